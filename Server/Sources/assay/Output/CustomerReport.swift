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

    // MARK: For people

    /// Tables, without columns that are empty.
    var text: String {
        var text = "customer \(name) of \(query.app.printable)\(summary.isTester ? ", tester" : "")\n"
        if let token = summary.appAccountToken { text += "account token \(token.uuidString.lowercased())\n" }
        if let moment = query.moment { text += "at \(moment)\n" }
        text += section("may use", entitlementTable, isEmpty: entitlements.entitlements.isEmpty)
        if !entitlements.named.isEmpty { text += section("named entitlements", namedTable, isEmpty: false) }
        text += section(
            hasMore ? "latest purchases; 'assay list purchases' has all" : "purchases", purchaseTable,
            isEmpty: purchases.isEmpty)
        if !summary.handGrants.isEmpty {
            text += section("grants and revocations by operators", handTable, isEmpty: false)
        }
        return text
    }

    /// The current name, and the requested name if that customer was merged.
    private var name: String {
        guard let present = summary.customerID else { return "\(query.customerID.printable) (erased)" }
        guard ExactText(present) != ExactText(query.customerID) else { return present.printable }
        return "\(present.printable) (\(query.customerID.printable) was merged into it)"
    }

    private func section(_ title: String, _ table: TextTable, isEmpty: Bool) -> String {
        "\n\(title):\n" + (isEmpty ? "  nothing\n" : table.text(indent: 2))
    }

    private var entitlementTable: TextTable {
        var table = TextTable([
            "product", "kind", "environment", "state", "reason", "balance", "shortfall", "since", "until",
            "transaction",
        ])
        for entitlement in entitlements.entitlements {
            let isBalance = entitlement.productKind == .consumable
            table.append([
                entitlement.productID.printable, entitlement.productKind.rawValue,
                entitlement.environment.name.printable, entitlement.state.rawValue,
                cell(entitlement.reason?.rawValue), isBalance ? "\(entitlement.balance)" : "-",
                isBalance && entitlement.shortfall > 0 ? "\(entitlement.shortfall)" : "-", cell(entitlement.since),
                cell(entitlement.until), cell(entitlement.transactionID?.printable),
            ])
        }
        return table
    }

    private var namedTable: TextTable {
        var table = TextTable(["name", "state", "until", "by"])
        for access in entitlements.named {
            table.append([
                access.name.string.printable, access.isActive ? "active" : "inactive", cell(access.until),
                cell(access.products.isEmpty ? nil : access.products.map(\.string.printable).joined(separator: ", ")),
            ])
        }
        return table
    }

    private var purchaseTable: TextTable {
        var table = TextTable([
            "transaction", "original", "product", "environment", "quantity", "bought", "expires", "withdrawn",
            "owner by", "order",
        ])
        for purchase in purchases {
            table.append([
                purchase.transactionID.printable,
                purchase.originalTransactionID.utf8.elementsEqual(purchase.transactionID.utf8)
                    ? "-" : purchase.originalTransactionID.printable,
                purchase.productID.printable, purchase.environment.name.printable,
                purchase.quantity == 1 ? "-" : "\(purchase.quantity)", cell(purchase.purchasedAt),
                cell(purchase.expiresAt), cell(purchase.withdrawal?.date), cell(purchase.ownerReason),
                cell(purchase.orderID?.uuidString.lowercased()),
            ])
        }
        return table
    }

    private var handTable: TextTable {
        var table = TextTable(["id", "what", "product", "environment", "quantity", "from", "until", "lifted"])
        for record in summary.handGrants {
            var what = "grant"
            if record.isRevocation {
                let grant = record.revokedGrant.map { "of grant \($0.uuidString.lowercased())" }
                what = "revocation \(grant ?? "of original \(record.revokedOriginalID?.printable ?? "unknown")")"
            }
            table.append([
                record.id.uuidString.lowercased(), what, record.productID.printable, record.environment.name.printable,
                record.quantity > 1 ? "\(record.quantity)" : "-", "\(record.startsAt)", cell(record.endsAt),
                cell(record.liftedAt),
            ])
        }
        return table
    }

    private func cell(_ value: (some CustomStringConvertible)?) -> String { value.map { "\($0)" } ?? "-" }

    // MARK: As JSON

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
        let hand_grants: [HandGrant]

        init(_ report: CustomerReport) {
            let list = EntitlementList(report.query, report.entitlements)
            (app, customer_id, at) = (report.query.app, report.query.customerID, list.at)
            let present = report.summary.customerID.map { ExactText($0) }
            merged_into = present == ExactText(report.query.customerID) ? nil : report.summary.customerID
            app_account_token = report.summary.appAccountToken?.uuidString.lowercased()
            tester = report.summary.isTester
            (entitlements, named) = (list.entitlements, list.named)
            purchases = report.purchases.map { TransactionMessage($0) }
            has_more_purchases = report.hasMore
            hand_grants = report.summary.handGrants.map { HandGrant($0) }
        }
    }

    private struct HandGrant: Encodable {
        let id: String
        let kind: String
        let product_id: String
        let environment: String
        let quantity: Int64?
        let revoked_original_transaction_id: String?
        let revoked_grant_id: String?
        let from: String
        let until: String?
        let lifted_at: String?

        init(_ record: HandGrantRecord) {
            id = record.id.uuidString.lowercased()
            kind = record.isRevocation ? "revocation" : "grant"
            product_id = record.productID
            environment = record.environment.name
            quantity = record.isRevocation ? nil : record.quantity
            revoked_original_transaction_id = record.revokedOriginalID
            revoked_grant_id = record.revokedGrant?.uuidString.lowercased()
            from = "\(record.startsAt)"
            until = record.endsAt.map { "\($0)" }
            lifted_at = record.liftedAt.map { "\($0)" }
        }
    }
}
