import Foundation
import HTTPTypes
import Hummingbird

/// Sends the evidence of a transaction to the server under test, and shows its answer.
struct DeliveryRoutes {
    let service: StoreService
    let target: EvidenceTarget

    func add(to router: Router<SimulatorRequestContext>) {
        let issuer = service.issuer
        router.post("/control/transactions/{id}/send") { request, context in
            let transactionID = try context.part("id")
            let wanted = try await request.read(DeliveryRequest.self)
            let delivery = try delivery()
            let message = try await service.change { state, _ in
                let transaction = try state.store.transaction(transactionID)
                return EvidenceDelivery.message(
                    wanted.way ?? .signedTransaction, transaction, try state.evidence(of: transaction, by: issuer),
                    app: try state.store.app(transaction.bundleID), customerID: wanted.customerID,
                    orderID: wanted.orderID)
            }
            return Response.json(bytes: try await delivery.send(message))
        }
        router.get("/control/customers/{id}/server-entitlements") { request, context in
            // A name with other letters than ASCII arrives encoded.
            let part = try context.part("id")
            let customerID = part.removingPercentEncoding ?? part
            let bundleID = try request.uri.query("bundle_id")
            let delivery = try delivery()
            let environment = try await service.change { state, _ in
                _ = try state.store.app(bundleID)
                return try state.store.customer(customerID).environment.rawValue
            }
            return Response.json(
                bytes: try await delivery.entitlements(of: customerID, in: environment, bundleID: bundleID))
        }
    }

    private func delivery() throws -> EvidenceDelivery {
        guard let delivery = target.delivery else {
            throw SimulatorRefusal(
                .conflict, "no_server",
                "The simulator knows no server. Start it with '--server http://HOST:PORT', and with '--server-key-file FILE' "
                    + "for /v1/purchases.")
        }
        return delivery
    }
}

private struct DeliveryRequest: RequestBody {
    let way: EvidenceDelivery.Way?
    let customerID: String?
    let orderID: String?

    static let members: [BodyMember] = ["way", "customer_id", "order_id"]
}
