import Foundation
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// Ownership of purchases: account tokens, merges of customers, and transfers by an operator.
///
/// A backend assigns tokens and merges an anonymous customer at sign-in, so both take its scope. A transfer needs the
/// scope of support.
struct OwnerRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.put("customers/:id/app_account_token") { request, context in try await assign(request, context) }
        group.post("customers/:id/merge") { request, context in try await merge(request, context) }
        group.post("purchases/:id/move") { request, context in try await move(request, context) }
    }

    private func assign(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app.id
        let customerID = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            let assignment = try await api.request(AccountTokenRequest.self, from: body)
            guard AppAccountToken(assignment.appAccountToken) != nil,
                let token = UUID(uuidString: assignment.appAccountToken)
            else { throw Problem.parameter("app_account_token", "a UUID of 36 characters") }
            let isNew = try await api.ledger.perform(AssignToken(app: app, customerID: customerID, token: token))
            var message = AccountTokenMessage(customerID: customerID, appAccountToken: token.text, replayed: !isNew)
            message.mergedInto = try await api.survivor(of: customerID, app: app)
            return try Response.json(message)
        }
    }

    private func merge(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app.id
        let customerID = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            let merge = try await api.request(MergeRequest.self, from: body)
            if let repeated = try await repeated(merge, customerID, app) { return repeated }
            var message = MergeMessage(customerID: customerID, into: merge.into, reason: merge.reason)
            var operation = MergeCustomers(app: app, customerID: customerID, into: merge.into, reason: merge.reason)
            operation.isFirst = true
            do {
                try await api.ledger.perform(operation)
            } catch let refusal as LedgerRefusal where refusal.code == .customerMergeCircular {
                // Another request merged them meanwhile.
                guard let repeated = try await repeated(merge, customerID, app) else { throw refusal }
                return repeated
            } catch let refusal as LedgerRefusal where refusal.code == .customerUnknown {
                // A guest who never bought anything signs in; the query refuses an unknown survivor.
                _ = try await api.ledger.answer(CustomerSummary(app: app, customerID: merge.into))
                message.merged = false
            }
            return try Response.json(message)
        }
    }

    /// The answer about a customer who was merged before. A repetition for another survivor, such as the next person at
    /// a device, must not merge two accounts.
    private func repeated(_ merge: MergeRequest, _ customerID: String, _ app: String) async throws -> Response? {
        guard let survivor = try await api.survivor(of: customerID, app: app) else { return nil }
        var message = MergeMessage(customerID: customerID, into: merge.into, reason: merge.reason)
        message.replayed = true
        let wanted = try await api.survivor(of: merge.into, app: app) ?? merge.into
        if survivor != wanted { (message.into, message.merged) = (survivor, false) }
        return try Response.json(message)
    }

    private func move(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.admin).app
        let transactionID = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            let move = try await api.request(MoveRequest.self, from: body)
            let former = try await api.ledger.perform(
                MovePurchase(
                    app: app.id, transactionID: transactionID, environment: try move.environment?.known(to: app),
                    to: move.customerID, reason: move.reason))
            var message = MoveMessage(
                transactionID: transactionID, customerID: move.customerID, formerCustomerID: former,
                reason: move.reason)
            message.mergedInto = try await api.survivor(of: move.customerID, app: app.id)
            return try Response.json(message)
        }
    }
}
