import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// Everything that `assay show` shows of a customer.
struct CustomerReport {
    let query: EntitlementsOfCustomer
    let summary: CustomerSummary.Answer
    let entitlements: EntitlementsOfCustomer.Answer
    /// The latest purchases.
    let purchases: [RecordedPurchase]
    /// Whether there are older ones.
    let hasMore: Bool

    /// Tables of the same objects for people, without columns that are empty.
    func text() throws -> String {
        let message = Message(self)
        var text = "customer \(name) of \(query.app.printable)\(summary.isTester ? ", tester" : "")\n"
        if let token = message.app_account_token { text += "account token \(token)\n" }
        if let moment = message.at { text += "at \(moment)\n" }
        text += try section(
            "may use",
            [
                "product": "product_id", "kind": "product_type", "environment": "environment", "state": "state",
                "reason": "reason", "balance": "balance", "shortfall": "shortfall", "since": "since", "until": "until",
                "transaction": "transaction_id",
            ], message.entitlements
        ) { if $0["shortfall"] as? Int == 0 { $0["shortfall"] = nil } }
        if !message.named.isEmpty {
            text += try section(
                "named entitlements", ["name": "name", "state": "state", "until": "until", "by": "products"],
                message.named)
        }
        text += try section(
            hasMore ? "latest purchases; 'assay list purchases' has all" : "purchases",
            [
                "transaction": "transaction_id", "original": "original_transaction_id", "product": "product_id",
                "environment": "environment", "quantity": "quantity", "bought": "purchased_at",
                "expires": "expires_at", "withdrawn": "withdrawal.at", "owner by": "owner_reason", "order": "order_id",
            ], message.purchases
        ) {
            if $0["quantity"] as? Int == 1 { $0["quantity"] = nil }
            guard let original = $0["original_transaction_id"] as? String else { return }
            if $0["transaction_id"] as? String == original { $0["original_transaction_id"] = nil }
        }
        guard !message.hand_grants.isEmpty else { return text }
        return text
            + (try section(
                "grants and revocations by operators",
                [
                    "id": "id", "what": "kind", "product": "product_id", "environment": "environment",
                    "quantity": "quantity", "from": "from", "until": "until", "lifted": "lifted_at",
                ], message.hand_grants
            ) {
                if $0["quantity"] as? Int == 1 { $0["quantity"] = nil }
                guard $0["kind"] as? String == "revocation" else { return }
                let original = $0["revoked_original_transaction_id"] ?? "unknown"
                $0["kind"] = "revocation of " + ($0["revoked_grant_id"].map { "grant \($0)" } ?? "original \(original)")
            })
    }

    /// The current name, and the requested name if that customer was merged.
    private var name: String {
        guard let present = summary.customerID else { return "\(query.customerID.printable) (erased)" }
        guard ExactText(present) != ExactText(query.customerID) else { return present.printable }
        return "\(present.printable) (\(query.customerID.printable) was merged into it)"
    }

    /// - Parameter shorten: removes members that say nothing, or joins some.
    private func section(
        _ title: String, _ columns: KeyValuePairs<String, String>, _ messages: [any Encodable],
        _ shorten: (inout [String: Any]) -> Void = { _ in }
    ) throws -> String {
        let rows = try messages.map { message in
            var members = try MessageText.members(message)
            shorten(&members)
            return members
        }
        return "\n\(title):\n" + (rows.isEmpty ? "  nothing\n" : MessageText.table(columns, rows).text(indent: 2))
    }

    /// The same objects as `GET /v1/customers/{id}/entitlements` and `…/purchases` answer, and the operators' actions.
    var message: any Encodable { Message(self) }

    private struct Message: Encodable {
        let app: String
        let customer_id: String
        let merged_into: String?
        let app_account_token: String?
        let tester: Bool
        let at: String?
        let entitlements: [EntitlementMessage]
        let named: [NamedEntitlementMessage]
        let purchases: [TransactionMessage]
        let has_more_purchases: Bool
        let hand_grants: [HandGrantMessage]

        init(_ report: CustomerReport) {
            let list = EntitlementList(report.query, report.entitlements)
            (app, customer_id, at) = (report.query.app, report.query.customerID, list.at)
            let present = report.summary.customerID.map { ExactText($0) }
            merged_into = present == ExactText(report.query.customerID) ? nil : report.summary.customerID
            app_account_token = report.summary.appAccountToken?.uuidString.lowercased()
            tester = report.summary.isTester
            (entitlements, named) = (list.entitlements, list.named)
            purchases = report.purchases.map { TransactionMessage($0) }
            (has_more_purchases, hand_grants) = (report.hasMore, report.summary.handGrants)
        }
    }
}
