import AppStoreConnection
import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// `assay show`: whatever has an id.
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows a purchase, an order, a customer, a claim or a change by its id.",
        discussion: """
            Everything of the app that has the id is shown. Of a customer: one entitlement for each product and environment, \
            the named entitlements, the latest purchases, and what operators did. Only the state 'active' gives access; for \
            any other state there is a reason (docs/ledger.md, "Reasons"). --at answers for a past or a future time with \
            today's knowledge; a refund that was seen later counts from its own date.

            An id that nothing has, of capital letters and digits, may be the order number of Apple's mail to a customer. \
            Then Apple is asked, if the app has a key (app_store_keys in the settings file); nothing is recorded.

            Exit status: 0 if something was shown, 1 if nothing has the id, 2 for wrong usage or I/O.
            """)

    /// The purchases of a customer that are shown; 'assay list purchases' has all.
    private static let purchases = 20

    @OptionGroup var options: OperatorOptions
    @OptionGroup var trust: LedgerTrustOption

    @Option(name: .long, help: "The time of a customer's entitlements, such as 2026-01-31T12:00:00Z; without it, now.")
    var at: Timestamp?

    @Option(
        name: .long,
        help: "Show this environment of a customer, as it would count; without it, everything that counts for them.")
    var environment: AppStoreEnvironment?

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    @Argument(
        help: "The id of a transaction, an order, a customer, a claim or an event, or an order number of Apple's.")
    var id: String

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            var isFound = try await showCustomer(ledger, app)
            // The options are for customers.
            if at == nil, environment == nil {
                for (kind, message) in try await messages(ledger, app) {
                    try write(message, kind)
                    isFound = true
                }
                if !isFound { isFound = try await showAppleOrder(ledger, app) }
            }
            guard isFound else {
                Terminal.complain(
                    "id_unknown: no purchase, order, customer, claim or change of \(app.printable) has this id")
                throw ExitCode.rejected
            }
        }
    }

    private func write(_ message: any Encodable, _ kind: String) throws {
        guard !json else { return try MessageText.write(message) }
        Terminal.write("\(kind)\n" + (try MessageText.lines(message)))
    }

    /// What has the id, besides a customer, and what it is.
    private func messages(_ ledger: PurchaseLedger, _ app: String) async throws -> [(String, any Encodable)] {
        if EventContent.number(inID: id) != nil {
            return try await ledger.event(id, of: app).map { [("change", EventMessage($0.content))] } ?? []
        }
        var found: [(String, any Encodable)] = []
        if let uuid = UUID(uuidString: id) {
            if let order = try await PurchaseLedger.found({
                try await ledger.answer(OrderByID(app: app, orderID: uuid))
            }) {
                found.append(("order", OrderMessage(order)))
            }
            if let claim = try await ledger.answer(SubmissionByID(app: app, submissionID: uuid)) {
                found.append(("claim", claim))
            }
        }
        let purchases = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: id))
        return found + purchases.map { ("purchase", TransactionMessage($0)) }
    }

    private func showCustomer(_ ledger: PurchaseLedger, _ app: String) async throws -> Bool {
        let name = CustomerSummary(app: app, customerID: id)
        guard let summary = try await PurchaseLedger.found({ try await ledger.answer(name) }) else { return false }
        let query = EntitlementsOfCustomer(app: app, customerID: id, environment: environment, at: at)
        let purchases = try await ledger.answer(PurchasesOfCustomer(app: app, customerID: id, limit: Self.purchases))
        let report = CustomerReport(
            query: query, summary: summary, entitlements: try await ledger.answer(query),
            purchases: purchases.entries, hasMore: purchases.next != nil)
        if json { try MessageText.write(report.message) } else { Terminal.write(try report.text()) }
        return true
    }

    /// Asks Apple for the purchases of an order number, and shows what the ledger knows of them.
    private func showAppleOrder(_ ledger: PurchaseLedger, _ app: String) async throws -> Bool {
        guard AppleOrderNumber.isOne(id) else { return false }
        let access: ServerAPIAccess
        do {
            access = try ServerAPIAccess(app, options.ledger, trust)
        } catch let error as InputError {
            Terminal.remark("if it is the order number of Apple's mail: Apple cannot be asked; \(error)")
            return false
        }
        do {
            let found = try await transactions(access)
            try await access.client.shutdown()
            for transaction in found {
                let purchases = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: transaction))
                for purchase in purchases { try write(TransactionMessage(purchase), "purchase") }
                if purchases.isEmpty {
                    Terminal.remark(
                        "\(transaction.printable) is not recorded; 'assay import backfill --transaction \(transaction.printable)' reads it"
                    )
                }
            }
            return !found.isEmpty
        } catch {
            try await access.client.shutdown()
            throw error
        }
    }

    /// The ids of the transactions that Apple names for the number; empty if Apple knows none.
    private func transactions(_ access: ServerAPIAccess) async throws -> [String] {
        for app in access.apps {
            do throws(AppStoreServerError) {
                let found = try await access.client.call(LookUpOrder(id), for: app, in: .production).value
                if let found, !found.isEmpty { return found.map(\.content.transactionID) }
            } catch {
                guard error.isFinal else { throw InputError(id, "the App Store gave no answer: \(error)") }
            }
        }
        return []
    }
}

extension PurchaseLedger {
    /// The event of an app with an id; `nil` if it has none.
    func event(_ id: String, of app: String) async throws -> StoredEvent? {
        guard let number = EventContent.number(inID: id) else { return nil }
        let query = EventSearch(app: app, after: number - 1, limit: 1)
        let event = try await Self.found { try await answer(query) }?.entries.first
        return event?.content.id == id ? event : nil
    }

    /// The answer to a query; `nil` if the ledger knows nothing by the id.
    fileprivate static func found<Answer>(_ query: () async throws -> Answer) async throws -> Answer? {
        do {
            return try await query()
        } catch let refusal as LedgerRefusal
            where [.customerUnknown, .orderUnknown, .cursorAhead].contains(refusal.code)
        {
            return nil
        }
    }
}

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
