import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

// What operators do to a customer: the operations of the HTTP API, with the name of the operator in the reason.
extension Console {
    func act(_ request: ConsoleRequest, _ visit: ConsoleVisit) async throws -> ConsoleResponse {
        let act = request.form["act"] ?? ""
        try visit.require(act == "merge" || act == "erase" ? .admin : .support)
        let (app, id, target) = (try app(request), request.form["id"] ?? "", request.form["target"] ?? "")
        let second = request.form["second"] ?? ""
        let reason = visit.recorded(request.form["reason"] ?? "")
        guard RequestMembers.isReason(request.form["reason"] ?? ""), RequestMembers.isReason(reason) else {
            return message("The reason needs \(RequestMembers.reasonRule)", 400)
        }
        let ledger = ledger()
        switch act {
        case "grant":
            guard let units = second.isEmpty ? 1 : Int64(second), (1...1_000_000_000).contains(units) else {
                return message("The units are not a whole number from 1", 400)
            }
            _ = try await ledger.perform(
                GrantByHand(app: app, customerID: id, productID: target, quantity: units, reason: reason))
        case "revoke":
            _ = try await ledger.perform(
                RevokeByHand(
                    app: app, customerID: id, .purchase(transactionID: target, environment: nil), reason: reason))
        case "lift":
            guard let actID = UUID(uuidString: target) else { return message("There is no such act", 400) }
            try await ledger.perform(LiftByHand(app: app, customerID: id, id: actID, reason: reason))
        case "transfer":
            let purchases = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: target))
            guard purchases.contains(where: { $0.customerID == id }) else {
                return message("The customer does not own this transaction", 400)
            }
            _ = try await ledger.perform(MovePurchase(app: app, transactionID: target, to: second, reason: reason))
        case "give":
            let held = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: target))
                .first { $0.customerID == nil && $0.environment.name == second }
            guard let held else { return message("The transaction is not held: somebody owns it", 400) }
            _ = try await ledger.perform(
                MovePurchase(
                    app: app, transactionID: target, environment: held.environment, to: id, reason: reason))
        case "merge":
            try await ledger.perform(MergeCustomers(app: app, customerID: id, into: target, reason: reason))
        case "erase":
            guard target == id else { return message("The second name is not that of the customer", 400) }
            _ = try await ledger.perform(EraseCustomer(app: app, customerID: id, reason: reason))
            return render("message", "Done", visit, ["notice": "The customer was erased."])
        default: return message("There is no such act", 400)
        }
        // A page that is reloaded must not act again.
        return .seeOther(Self.address("customer", app: app, id, [("done", act)]))
    }

    /// The sentence above the page after an act; `nil` for a text that is not an act.
    static func notice(after act: String?) -> String? {
        switch act {
        case "grant": "The product was granted, and the act recorded."
        case "revoke": "The purchase was revoked, and the act recorded."
        case "lift": "The grant or revocation was ended, and the act recorded."
        case "transfer": "The purchase was transferred, and the act recorded."
        case "give": "The purchase was given to this customer, and the act recorded."
        case "merge": "The customers were merged, and the act recorded."
        default: nil
        }
    }
}
