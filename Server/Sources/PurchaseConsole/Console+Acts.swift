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
            throw ConsoleVisit.Malformed(text: "The reason needs \(RequestMembers.reasonRule)")
        }
        let ledger = ledger()
        switch act {
        case "grant":
            guard let units = second.isEmpty ? 1 : Int64(second), (1...1_000_000_000).contains(units) else {
                throw ConsoleVisit.Malformed(text: "The units are not a whole number from 1")
            }
            _ = try await ledger.perform(
                GrantByHand(app: app, customerID: id, productID: target, quantity: units, reason: reason))
        case "revoke":
            _ = try await ledger.perform(
                RevokeByHand(
                    app: app, customerID: id, .purchase(transactionID: target, environment: nil), reason: reason))
        case "lift":
            guard let actID = UUID(uuidString: target) else { throw ConsoleVisit.Malformed.act }
            try await ledger.perform(LiftByHand(app: app, customerID: id, id: actID, reason: reason))
        case "transfer":
            let purchases = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: target))
            guard purchases.contains(where: { $0.customerID == id }) else {
                throw ConsoleVisit.Malformed(text: "The customer does not own this transaction")
            }
            _ = try await ledger.perform(MovePurchase(app: app, transactionID: target, to: second, reason: reason))
        case "give":
            let held = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: target))
                .first { $0.customerID == nil && $0.environment.name == second }
            guard let held else {
                throw ConsoleVisit.Malformed(text: "The transaction is not held: somebody owns it")
            }
            _ = try await ledger.perform(
                MovePurchase(
                    app: app, transactionID: target, environment: held.environment, to: id, reason: reason))
        case "tester":
            _ = try await ledger.perform(ChangeTester(app: app, customerID: id, isTester: true, reason: reason))
        case "merge":
            try await ledger.perform(MergeCustomers(app: app, customerID: id, into: target, reason: reason))
        case "erase":
            guard target == id else {
                throw ConsoleVisit.Malformed(text: "The second name is not that of the customer")
            }
            _ = try await ledger.perform(EraseCustomer(app: app, customerID: id, reason: reason))
            return render("message", "Done", visit, ["notice": "The customer was erased."])
        default: throw ConsoleVisit.Malformed.act
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
        case "tester": "The customer is a tester now, and the act recorded."
        case "merge": "The customers were merged, and the act recorded."
        default: nil
        }
    }
}

/// The forms of acts on a customer, as far as a role may use them and the page shows something that they act on.
struct ActForms {
    let role: OperatorRole
    /// What was sent, if the act was refused: the form then has it again.
    var sent: [String: String] = [:]
    /// The products of the settings.
    var products: [String] = []
    /// The purchases of the customer that the page shows.
    var purchases: [RecordedPurchase] = []

    var fields: [[String: Any]] {
        guard role >= .support else { return [] }
        let transactions = purchases.map { purchase -> (String, String) in
            let bought = purchase.purchasedAt.map { ", \($0)" } ?? ""
            return (
                purchase.transactionID, ReadableTimes.plain("\(purchase.productID)\(bought): \(purchase.transactionID)")
            )
        }
        var forms: [[String: Any]] = []
        if !products.isEmpty {
            let options = products.sorted().map { ($0, $0) }
            forms.append(form("grant", "Grant a product", "Product", options, second: "Units of a consumable"))
        }
        if !transactions.isEmpty {
            forms.append(form("revoke", "Revoke a purchase", "Purchase", transactions))
            forms.append(form("transfer", "Transfer a purchase", "Purchase", transactions, second: "To the customer"))
        }
        if role >= .admin {
            forms.append(form("merge", "Merge into another customer", "The customer that remains"))
            forms.append(form("erase", "Erase the customer", "The name of the customer, again"))
        }
        return forms
    }

    /// The form that the advice to add a tester leads to.
    var tester: [[String: Any]] {
        role >= .support ? [form("tester", "Make the customer a tester")] : []
    }

    private func form(
        _ act: String, _ label: String, _ target: String? = nil, _ options: [(String, String)] = [],
        second: String? = nil
    ) -> [String: Any] {
        let sent = sent["act"] == act ? sent : [:]
        var form: [String: Any] = [
            "act": act, "label": label, "isOpen": !sent.isEmpty, "isDanger": act == "erase",
            "reason": sent["reason"] ?? "",
            "targetValue": sent["target"] ?? "", "secondValue": sent["second"] ?? "", "isChoice": !options.isEmpty,
            "options": options.map { value, text -> [String: Any] in
                ["value": value, "text": text, "isChosen": value == sent["target"]]
            },
        ]
        (form["target"], form["second"]) = (target, second)
        return form
    }
}
