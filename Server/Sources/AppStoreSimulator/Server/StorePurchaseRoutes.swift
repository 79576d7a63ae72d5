import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird

/// Purchases, actions on their transactions, receipts, and the event log.
struct StorePurchaseRoutes {
    let service: StoreService

    func add(to router: Router<SimulatorRequestContext>) {
        let routes = StateRoutes(router: router, service: service)
        addPurchases(to: routes)
        addTransactionActions(to: routes)
        addReceipts(to: routes)
        addEvents(to: routes)
    }

    private func addPurchases(to routes: StateRoutes) {
        routes.post(
            "/control/purchases", NewPurchase.self, .created,
            check: { purchase in
                _ = try purchase.version()
                try purchase.faults?.check()
            },
            { state, purchase, call in
                let transaction = try state.store.buy(
                    purchase.productID, of: purchase.bundleID, by: purchase.customerID,
                    options: AppStore.PurchaseOptions(
                        quantity: purchase.quantity ?? 1, appAccountToken: purchase.appAccountToken,
                        offerID: purchase.offerID))
                return try TransactionAnswer(
                    transaction, &state, call.issuer, try purchase.version(), purchase.faults)
            })
        routes.post("/control/purchases/crowd", Crowd.self, .created) { state, crowd, _ in
            let sold = try state.store.sellToCrowd(
                crowd.productID, of: crowd.bundleID, prefix: crowd.prefix, count: crowd.count,
                environment: crowd.environment ?? .sandbox, storefront: crowd.storefront ?? "USA")
            return CrowdAnswer(
                purchases: sold.map {
                    CrowdAnswer.Purchase(customerID: $0.customerID, transactionID: $0.transactionID)
                })
        }
        routes.get("/control/transactions/{id}") { state, call in
            try TransactionAnswer(try state.store.transaction(call.id), &state, call.issuer)
        }
    }

    private func addTransactionActions(to routes: StateRoutes) {
        add("finish", to: routes) { store, id, _ in try store.finish(id) }
        add("ask-for-refund", to: routes) { store, id, _ in try store.askForRefund(of: id) }
        add("decline-refund", to: routes) { store, id, _ in try store.declineRefund(of: id) }
        add("refund", to: routes) { store, id, body in
            try store.refund(id, reason: body.reason ?? 0, percentage: body.percentage)
        }
        add("refund-seats", to: routes) { store, id, body in
            guard let seats = body.seats else {
                throw StoreError(.invalidValue, "'seats' is missing: the number of seats to refund.")
            }
            return try store.refundSeats(seats, of: id, reason: body.reason ?? 0)
        }
        add("reverse-refund", to: routes) { store, id, _ in try store.reverseRefund(of: id) }
        add("revoke-sharing", to: routes) { store, id, _ in try store.revokeSharing(of: id) }
        add("share", to: routes) { store, id, body in
            guard let customerID = body.customerID else {
                throw StoreError(.invalidValue, "'customer_id' is missing: the family member to share with.")
            }
            return try store.share(id, with: customerID)
        }
    }

    private func add(
        _ action: String, to routes: StateRoutes,
        _ body: @escaping @Sendable (inout AppStore, String, TransactionAction) throws -> StoreTransaction
    ) {
        routes.post("/control/transactions/{id}/\(action)", TransactionAction.self) { state, fields, call in
            try TransactionAnswer(try body(&state.store, call.id, fields), &state, call.issuer)
        }
    }

    private func addReceipts(to routes: StateRoutes) {
        let check: @Sendable (ReceiptRequest) throws -> Void = { try EvidenceFault.check($0.fault, of: .appReceipt) }
        routes.post("/control/receipts/refresh", ReceiptRequest.self, check: check) { state, wanted, call in
            let receipt = try state.store.refreshReceipt(of: wanted.bundleID, for: wanted.customerID)
            return try ReceiptAnswer(receipt, restored: nil, &state, call.issuer, wanted.fault)
        }
        routes.post("/control/receipts/restore", ReceiptRequest.self, check: check) { state, wanted, call in
            let restored = try state.store.restore(wanted.bundleID, for: wanted.customerID)
            let receipt = try state.store.receipt(of: wanted.bundleID, for: wanted.customerID)
            return try ReceiptAnswer(receipt, restored: restored, &state, call.issuer, wanted.fault)
        }
    }

    private func addEvents(to routes: StateRoutes) {
        routes.get("/control/events") { state, call in
            let text = call.uri.queryParameters["after"] ?? "0"
            guard let after = Int(text), after >= 0 else {
                throw StoreError(.invalidValue, "'after' is the number of an event.")
            }
            return EventsAnswer(events: Array(state.store.events.filter { $0.number > after }.prefix(1000)))
        }
        routes.router.get("/control/events/{number}/notification") { _, context in
            guard let number = Int(try context.part("number")) else {
                throw StoreError(
                    .unknownEvent, "The path needs the number of an event, such as /control/events/7/notification.")
            }
            let issuer = service.issuer
            let json = try await service.change { state, _ in try state.notification(of: number, by: issuer) }
            return Response.json(bytes: json)
        }
    }
}

private struct NewPurchase: RequestBody {
    let bundleID: String
    let productID: String
    let customerID: String
    let quantity: UInt64?
    let appAccountToken: String?
    let offerID: String?
    let transactionReceiptVersion: UInt8?
    let faults: EvidenceFaults?

    static let members: [BodyMember] = [
        "bundle_id", "product_id", "customer_id", "quantity", "app_account_token", "offer_id",
        "transaction_receipt_version",
        BodyMember(
            "faults",
            ["app_receipt", "transaction_receipt", "signed_transaction", "signed_renewal_info", "app_transaction"]),
    ]

    func version() throws(StoreError) -> TransactionReceiptVersion {
        guard let transactionReceiptVersion else { return .four }
        guard let version = TransactionReceiptVersion(rawValue: transactionReceiptVersion) else {
            throw StoreError(.invalidValue, "Transaction receipts have the versions 2, 3 and 4.")
        }
        return version
    }
}

private struct ReceiptRequest: RequestBody {
    let bundleID: String
    let customerID: String
    let fault: String?

    static let members: [BodyMember] = ["bundle_id", "customer_id", "fault"]
}

private struct ReceiptAnswer: Encodable {
    let appReceipt: String
    let creationDate: Date
    let transactions: [StoreTransaction]
    let restored: [StoreTransaction]?

    init(
        _ receipt: StoreReceipt, restored: [StoreTransaction]?, _ state: inout ServiceState, _ issuer: EvidenceIssuer,
        _ fault: String?
    ) throws {
        appReceipt = try state.appReceipt(receipt, by: issuer, fault: fault)
        creationDate = receipt.creationDate
        transactions = receipt.transactions
        self.restored = restored
    }
}

private struct EventsAnswer: Encodable {
    let events: [StoreEvent]
}

/// New customers who each buy the same product.
private struct Crowd: RequestBody {
    let bundleID: String
    let productID: String
    let prefix: String
    let count: Int
    let environment: StoreEnvironment?
    let storefront: String?

    static let members: [BodyMember] = [
        "bundle_id", "product_id", "prefix", "count", "environment", "storefront",
    ]
}

private struct CrowdAnswer: Encodable {
    let purchases: [Purchase]

    struct Purchase: Encodable {
        let customerID: String
        let transactionID: String
    }
}

/// The fields of an action on a transaction.
struct TransactionAction: RequestBody {
    let reason: Int?
    let percentage: Int64?
    let customerID: String?
    let seats: UInt64?

    static let members: [BodyMember] = ["reason", "percentage", "customer_id", "seats"]
}

/// A transaction, its subscription, and its evidence.
struct TransactionAnswer: Encodable {
    let transaction: StoreTransaction
    let subscription: StoreSubscription?
    let evidence: TransactionEvidence
    /// The number of the order in the customer's mail; nil if nothing was paid.
    let orderID: String?

    init(
        _ transaction: StoreTransaction, _ state: inout ServiceState, _ issuer: EvidenceIssuer,
        _ version: TransactionReceiptVersion = .four, _ faults: EvidenceFaults? = nil
    ) throws {
        self.transaction = transaction
        orderID = transaction.orderID
        subscription = state.store.state.subscriptions[transaction.originalTransactionID]
        evidence = try state.evidence(of: transaction, by: issuer, version: version, faults: faults)
    }
}
