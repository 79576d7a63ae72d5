import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// A customer's entitlements, purchases and consumption.
struct CustomerRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("customers/:id/entitlements") { request, context in
            let app = try context.requireCaller(.backend).app
            let query = EntitlementsOfCustomer(
                app: app.id, customerID: try context.identifier("id"), environment: try request.environment(of: app),
                at: try request.time("at"))
            let list = EntitlementList(query, try await api.ledger.answer(query))
            return try Self.tagged(.json(list), Wire.json(list), request)
        }
        group.get("customers/:id/purchases") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let query = PurchasesOfCustomer(app: app, customerID: try context.identifier("id"))
            return try Response.json(TransactionPage(try await api.page(of: query, request)))
        }
        group.post("customers/:id/consume") { request, context in try await consume(request, context) }
    }

    private func consume(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app
        let customerID = try context.identifier("id")
        let key = try request.requiredIdempotencyKey()
        return try await api.bodies.withBody(of: request) { body in
            let consumption = try await api.request(ConsumptionRequest.self, from: body)
            let keyID = context.caller?.key.id ?? ""
            let consumptionID = consumption.consumptionID ?? Self.consumptionID(idempotencyKey: key, of: keyID)
            let operation = ConsumeUnits(
                app: app.id, customerID: customerID, productID: consumption.productID,
                quantity: consumption.quantity ?? 1, consumptionID: consumptionID,
                environment: try consumption.environment?.known(to: app),
                once: try await api.once(request, context, body))
            return try Response.json(try await api.ledger.perform(operation))
        }
    }

    /// The name of a consumption that has only the request's idempotency key: it cannot equal the name of another
    /// sender, or another name.
    private static func consumptionID(idempotencyKey: String, of keyID: String) -> String {
        "idempotency key " + SHA256.hash(data: Data("\(keyID)\n\(idempotencyKey)".utf8)).hexadecimal
    }

    /// The answer with its entity tag, or 304 if the sender has it already (RFC 9110, 13.1.2).
    private static func tagged(_ response: Response, _ body: [UInt8], _ request: Request) -> Response {
        let tag = "\"\(SHA256.hash(data: body).prefix(16).hexadecimal)\""
        // ASCII, as all fields that are read (RequestHeadFault).
        let known = request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).replacing(/^W\//, with: "") }
        guard known.contains(tag) || known.contains("*") else {
            var response = response
            response.headers[.eTag] = tag
            return response
        }
        return Response(status: .notModified, headers: [.eTag: tag])
    }
}
