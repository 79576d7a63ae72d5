import Foundation
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// Manual grants and revocations by an operator, regardless of Apple's facts.
struct GrantRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.post("customers/:id/grants") { request, context in try await grant(request, context) }
        group.post("customers/:id/revocations") { request, context in try await revoke(request, context) }
        group.delete("customers/:id/grants/:act") { request, context in
            try await lift(.grant, request, context)
        }
        group.delete("customers/:id/revocations/:act") { request, context in
            try await lift(.revocation, request, context)
        }
    }

    private func grant(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.admin).app
        let customerID = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            let grant = try await api.request(GrantRequest.self, from: body)
            let environment = try grant.environment?.accepted(by: app) ?? .production
            let until = try grant.until.map { try Timestamp(end: $0) }
            let operation = GrantByHand(
                app: app.id, customerID: customerID, productID: grant.productID, environment: environment,
                quantity: grant.quantity ?? 1, until: until, reason: grant.reason,
                once: try await api.once(request, context, body))
            let id = try await api.ledger.perform(operation)
            var message = GrantMessage(
                grantID: id.text, customerID: customerID, productID: grant.productID,
                environment: EnvironmentName(environment), quantity: operation.quantity,
                until: until.map { "\($0)" }, reason: grant.reason)
            message.mergedInto = try await api.survivor(of: customerID, app: app.id)
            return try Response.json(message, status: .created)
        }
    }

    private func revoke(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.admin).app
        let customerID = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            let revocation = try await api.request(RevocationRequest.self, from: body)
            let operation = RevokeByHand(
                app: app.id, customerID: customerID, try Self.target(revocation, of: app), reason: revocation.reason,
                once: try await api.once(request, context, body))
            let id = try await api.ledger.perform(operation)
            var message = RevocationMessage(
                revocationID: id.text, customerID: customerID, transactionID: revocation.transactionID,
                grantID: revocation.grantID, reason: revocation.reason)
            message.mergedInto = try await api.survivor(of: customerID, app: app.id)
            return try Response.json(message, status: .created)
        }
    }

    private static func target(
        _ revocation: RevocationRequest, of app: RegisteredApp
    ) throws -> RevokeByHand.Target {
        let environment = try revocation.environment?.known(to: app)
        if let transactionID = revocation.transactionID {
            return .purchase(transactionID: transactionID, environment: environment)
        }
        guard let id = revocation.grantID.flatMap({ UUID(uuidString: $0) }) else {
            throw Problem(.grantUnknown, expected: revocation.grantID)
        }
        return .grant(id)
    }

    /// Lifting a lifted revocation again changes nothing.
    private func lift(
        _ act: LiftByHand.Act, _ request: Request, _ context: ServerContext
    ) async throws -> Response {
        let app = try context.requireCaller(.admin).app.id
        let (customerID, text) = (try context.identifier("id"), try context.identifier("act"))
        guard let reason = try request.reason() else { throw Problem(Rejection(.fieldMissing, expected: "reason")) }
        guard let id = UUID(uuidString: text) else { throw Problem(.grantUnknown, expected: text) }
        try await api.ledger.perform(
            LiftByHand(app: app, customerID: customerID, id: id, act: act, reason: reason))
        return Response(status: .noContent)
    }
}

extension Request {
    /// The operator's reason. DELETE has no body (RFC 9110, 9.3.5), so it is a parameter of the query.
    func reason() throws -> String? {
        guard let reason = try value("reason") else { return nil }
        guard RequestMembers.isReason(reason) else { throw Problem.parameter("reason", RequestMembers.reasonRule) }
        return reason
    }
}
