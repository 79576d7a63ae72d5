import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

extension ListKind {
    static let all: [ListKind] = [
        purchases, orders, events, submissions, customers, timeline, refunds, external, notifications, webhooks,
        testers, operators, keys,
    ]

    private static let purchases = ListKind(
        name: "purchases", abstract: "the purchases of a customer, the last seen first, or of a transaction",
        takes: ["--customer", "--transaction"], needs: ["--customer", "--transaction"],
        columns: [
            "TRANSACTION": "transaction_id", "CUSTOMER": "customer_id", "PRODUCT": "product_id",
            "ENVIRONMENT": "environment", "QUANTITY": "quantity", "BOUGHT": "purchased_at", "EXPIRES": "expires_at",
            "WITHDRAWN": "withdrawal.at", "ORDER": "order_id",
        ]
    ) { list, ledger, app in
        if let id = list.filter.transaction {
            let all = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: id))
            let named = list.filter.customer.map { ExactText($0) }
            return list.entries(of: all.filter { named == nil || $0.customerID.map { ExactText($0) } == named }) {
                TransactionMessage($0)
            }
        }
        let customer = list.filter.customer ?? ""
        return try await list.entries(of: PurchasesOfCustomer(app: app, customerID: customer), ledger) {
            TransactionMessage($0)
        }
    }

    private static let orders = ListKind(
        name: "orders", abstract: "orders, the newest first; with --state in the order of expiry, the latest first",
        takes: ["--customer", "--state"], states: OrderStatus.allCases.map(\.rawValue),
        columns: [
            "ORDER": "order_id", "CREATED": "created_at", "STATUS": "status", "CUSTOMER": "customer_id",
            "PRODUCT": "product_id", "QUANTITY": "quantity", "TRANSACTION": "payment.transaction_id",
        ]
    ) { list, ledger, app in
        let (customer, status) = (list.filter.customer, list.filter.state.flatMap(OrderStatus.init(rawValue:)))
        return try await list.entries(of: OrderList(app: app, status: status, customerID: customer), ledger) {
            OrderMessage($0)
        }
    }

    private static let events = ListKind(
        name: "events",
        abstract: "changes, the oldest first; those of a customer with those of everybody merged into them",
        takes: ["--customer", "--order", "--transaction", "--after"],
        columns: [
            "EVENT": "id", "AT": "at", "TYPE": "type", "CUSTOMER": "customer_id", "PRODUCT": "product_id",
            "TRANSACTION": "transaction_id", "ORDER": "order_id", "UNITS": "units", "BALANCE": "balance",
            "REASON": "reason",
        ]
    ) { list, ledger, app in
        let filter = EventFilter(
            customerID: list.filter.customer, orderID: list.filter.order, transactionID: list.filter.transaction)
        var after: Int64?
        if let id = list.filter.after {
            after = try await ledger.event(id, of: app)?.cursor
            if after == nil { throw InputError(id, "is not the id of an event of \(app)") }
        }
        return try await list.entries(of: EventSearch(app: app, filter: filter, after: after), ledger) {
            EventMessage($0.content)
        }
    }

    private static let submissions = ListKind(
        name: "submissions",
        abstract: "claims as they were submitted, the newest first; equal rejections in succession are one line",
        takes: ["--customer", "--order", "--transaction", "--code", "--verdict", "--app-store"],
        columns: [
            "SUBMISSION": "submission_id", "RECEIVED": "received_at", "CODE": "code", "COUNT": "count",
            "CUSTOMER": "customer_id", "TRANSACTION": "transaction_id", "PRODUCT": "product_id", "ORDER": "order_id",
            "EXPECTED": "expected", "FOUND": "found",
        ], joined: ["verdict", "code", "customer_id", "transaction_id"]
    ) { list, ledger, app in
        var filter = SubmissionFilter()
        (filter.customerID, filter.transactionID) = (list.filter.customer, list.filter.transaction)
        (filter.code, filter.orderID) = (list.filter.code, list.filter.order)
        filter.verdict = try list.filter.choice(list.filter.verdict, "--verdict")
        filter.appStore = try list.filter.choice(list.filter.appStore, "--app-store")
        return try await list.entries(of: SubmissionList(app: app, filter: filter), ledger) { $0 }
    }

    private static let customers = ListKind(
        name: "customers",
        abstract: "customers by the beginning of their id, whatever its case and accents, or by what belongs to them",
        takes: [ListFilter.text],
        columns: ["CUSTOMER": "customer_id", "FOUND BY": "found_by", "MERGED INTO": "merged_into"]
    ) { list, ledger, app in
        let query = CustomerSearch(app: app, text: list.text ?? "", limit: list.limit + 1)
        return list.entries(of: try await ledger.answer(query)) { found in
            let members: [String: String?] = [
                "customer_id": found.customerID, "found_by": found.foundBy.rawValue, "merged_into": found.mergedInto,
            ]
            return members.compactMapValues(\.self)
        }
    }

    private static let timeline = ListKind(
        name: "timeline",
        abstract: "everything that happened to a customer, the oldest first, with the claims that were rejected",
        takes: ["--customer"], needs: ["--customer"],
        columns: [
            "AT": "at", "WHAT": "code|type", "COUNT": "count", "PRODUCT": "product_id", "TRANSACTION": "transaction_id",
            "ORDER": "order_id", "UNITS": "units", "BALANCE": "balance", "UNTIL": "until", "REASON": "reason",
            "TEXT": "text",
        ]
    ) { list, ledger, app in
        let customer = list.filter.customer ?? ""
        return try await list.entries(of: CustomerTimeline(app: app, customerID: customer), ledger) { $0.message }
    }

    private static let refunds = ListKind(
        name: "refunds", abstract: "refund requests and what Apple was told, the newest first", takes: ["--state"],
        states: ConsumptionRequestState.allCases.map(\.rawValue),
        columns: [
            "ASKED": "asked_at", "STATE": "state", "CUSTOMER": "customer_id", "PRODUCT": "product_id",
            "TRANSACTION": "transaction_id", "USED": "answer.consumption_percentage",
            "PREFERENCE": "answer.refund_preference", "REFUSAL": "refusal", "APPLE": "closed_by",
        ]
    ) { list, ledger, app in
        let state = list.filter.state.flatMap(ConsumptionRequestState.init(rawValue:))
        return try await list.entries(of: RefundRequestList(app: app, state: state), ledger) { $0.message }
    }

    private static let external = ListKind(
        name: "external", abstract: "external purchase tokens and what Apple was told, the newest first",
        takes: ["--state"], states: ExternalPurchaseState.allCases.map(\.rawValue),
        columns: [
            "TOKEN": "external_purchase_id", "TYPE": "token_type", "CREATED": "created_at", "EXPIRES": "expires_at",
            "STATE": "state", "DUE": "due_at", "TOLD": "status", "AT": "reported_at", "REFUSAL": "refusal",
        ]
    ) { list, ledger, app in
        let state = list.filter.state.flatMap(ExternalPurchaseState.init(rawValue:))
        return try await list.entries(of: ExternalPurchaseList(app: app, state: state), ledger) { $0 }
    }

    private static let notifications = ListKind(
        name: "notifications", abstract: "what the App Store sent, the newest first",
        takes: ["--customer", "--transaction", "--type"],
        columns: [
            "RECEIVED": "received_at", "TYPE": "type", "SUBTYPE": "subtype", "ENVIRONMENT": "environment",
            "CUSTOMER": "customer_id", "TRANSACTION": "transaction_id", "ORIGINAL": "original_transaction_id",
            "ENTRY": "entry_id",
        ]
    ) { list, ledger, app in
        let filter = NotificationFilter(
            type: list.filter.type, customerID: list.filter.customer, transactionID: list.filter.transaction)
        return try await list.entries(of: NotificationList(app: app, filter: filter), ledger) { $0 }
    }

    private static let webhooks = ListKind(
        name: "webhooks", abstract: "how far each webhook and forward got, and what was given up", columns: [:],
        hint: "no server delivered events or notifications of this app yet",
        text: { $0.map(Self.webhook).joined() }
    ) { list, ledger, app in
        list.entries(of: try await ledger.answer(WebhookList(app: app))) { WebhookLine($0) }
    }

    /// A webhook with the events that were given up.
    private static func webhook(_ members: [String: Any]) -> String {
        func text(_ name: String, _ members: [String: Any]) -> String {
            members[name].map { MessageText.plain($0) }.cell
        }
        let forward = members["forward"].map { " (forward \($0))" } ?? ""
        let what = forward.isEmpty ? "event" : "notification"
        let state =
            members["disabled_at"].map { "disabled since \($0): \(members["disabled_reason"] ?? "")" } ?? "enabled"
        let dead = members["given_up"] as? [[String: Any]] ?? []
        var text = """
            \(text("url", members))\(forward.printable)
              \(state.printable)
              cursor \(text("cursor", members)), \(counted(members["behind"] as? Int ?? 0, what)) behind, \
            \(text("waiting", members)) waiting for a retry, \(dead.count) given up

            """
        guard !dead.isEmpty else { return text }
        var table = TextTable([what == "event" ? "EVENT" : "ENTRY", "TYPE", "ATTEMPTS", "FIRST ATTEMPT", "REASON"])
        for event in dead {
            table.append(
                ["id", "type", "attempts", "first_attempt_at", "reason"].map { event[$0].map { "\($0)" }.cell })
        }
        text += table.text(indent: 2)
        return text
    }

    private static let testers = ListKind(
        name: "testers", abstract: "the customers for whom sandbox purchases count",
        columns: ["CUSTOMER": "customer_id"]
    ) { list, ledger, app in
        try await list.entries(of: TesterList(app: app), ledger) { ["customer_id": $0] as [String: String] }
    }

    private static let operators = ListKind(
        name: "operators", abstract: "the people who sign in to the console",
        columns: ["NAME": "name", "ROLE": "role", "CREATED": "created_at", "STATE": "state"], isOfApp: false,
        hint: "there are no operators; add one with 'assay operators add'"
    ) { list, ledger, _ in
        list.entries(of: try await ledger.answer(OperatorList())) { account in
            let members: [String: String] = [
                "name": account.name, "role": account.role.rawValue, "created_at": "\(account.createdAt)",
                "state": account.hasPassword ? "may sign in" : "has no password",
            ]
            return members
        }
    }

    private static let keys = ListKind(
        name: "keys", abstract: "the keys of the HTTP API, without their secrets, and the minute of their last use",
        takes: ["--app"],
        columns: [
            "KEY": "id", "APP": "app", "SCOPES": "scopes", "CREATED": "created_at", "LAST USED": "used_at",
            "STATE": "state", "NAME": "name",
        ], isOfApp: false, hint: "there are no keys; make one with 'assay keys create'"
    ) { list, ledger, _ in
        let app = list.options.namedApp.map { ExactText($0) }
        let all = try await ledger.answer(APIKeyList()).filter { app == nil || ExactText($0.app) == app }
        return list.entries(of: all) { key in
            let members: [String: String?] = [
                "id": key.id, "app": key.app, "scopes": key.scopes.map(\.rawValue).sorted().joined(separator: ","),
                "created_at": "\(key.createdAt)", "used_at": key.usedAt.map { "\($0)" },
                "state": key.revokedAt.map { "revoked \($0)" } ?? "in use", "name": key.name.isEmpty ? nil : key.name,
            ]
            return members.compactMapValues(\.self)
        }
    }
}

/// A webhook, or a forward of notifications.
private struct WebhookLine: Encodable {
    let url: String
    /// The environment of a forward.
    let forward: String?
    let disabled_at: String?
    let disabled_reason: String?
    let cursor: Int64
    let behind: Int
    let waiting: Int
    let given_up: [GivenUp]

    struct GivenUp: Encodable {
        let id: String
        let type: String
        let attempts: Int
        let first_attempt_at: String?
        let reason: String?
    }

    init(_ webhook: WebhookStatus) {
        url = webhook.url
        if case .notifications(let environment) = webhook.stream { forward = environment.name } else { forward = nil }
        (disabled_at, disabled_reason) = (webhook.disabledAt.map { "\($0)" }, webhook.disabledReason)
        (cursor, behind, waiting) = (webhook.cursor, webhook.behind, webhook.pending)
        given_up = webhook.dead.map { event in
            GivenUp(
                id: event.id, type: event.type, attempts: event.attempts,
                first_attempt_at: event.firstAt.map { "\($0)" }, reason: event.lastError)
        }
    }
}
