import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore

extension Routes {
    /// Purchases, actions on their transactions, receipts, and the event log.
    func addPurchases() {
        post(
            "/control/purchases",
            [
                "bundle_id", "product_id", "customer_id", "quantity", "app_account_token", "offer_id",
                "transaction_receipt_version",
                BodyMember(
                    "faults",
                    [
                        "app_receipt", "transaction_receipt", "signed_transaction", "signed_renewal_info",
                        "app_transaction",
                    ]),
            ], .created
        ) { state, body, call in
            let faults: EvidenceFaults? = try body.faults
            try faults?.check()
            guard let version = TransactionReceiptVersion(rawValue: try body.transactionReceiptVersion ?? 4) else {
                throw StoreError(.invalidValue, "Transaction receipts have the versions 2, 3 and 4.")
            }
            let transaction = try state.store.buy(
                body.productID, of: body.bundleID, by: body.customerID, options: .init(body))
            return try state.answer(with: transaction, by: call.issuer, version: version, faults: faults)
        }
        post(
            "/control/purchases/crowd",
            ["bundle_id", "product_id", "prefix", "count", "environment", "storefront"], .created
        ) { state, body, _ -> Members in
            let sold = try state.store.sellToCrowd(
                body.productID, of: body.bundleID, prefix: body.prefix, count: body.count,
                environment: body.environment ?? .sandbox, storefront: body.storefront ?? "USA")
            return [
                "purchases": sold.map {
                    ["customer_id": $0.customerID, "transaction_id": $0.transactionID]
                }
            ]
        }
        get("/control/transactions/{id}") { state, call in
            try state.answer(with: state.store.transaction(call.id), by: call.issuer)
        }
        addTransaction("finish") { store, id, _ in try store.finish(id) }
        addTransaction("ask-for-refund") { store, id, _ in try store.askForRefund(of: id) }
        addTransaction("decline-refund") { store, id, _ in try store.declineRefund(of: id) }
        addTransaction("refund") { store, id, body in
            try store.refund(id, reason: body.reason ?? 0, percentage: body.percentage)
        }
        addTransaction("refund-seats") { store, id, body in
            let seats: UInt64 = try body.required("seats", body.seats, "the number of seats to refund")
            return try store.refundSeats(seats, of: id, reason: body.reason ?? 0)
        }
        addTransaction("reverse-refund") { store, id, _ in try store.reverseRefund(of: id) }
        addTransaction("revoke-sharing") { store, id, _ in try store.revokeSharing(of: id) }
        addTransaction("share") { store, id, body in
            try store.share(
                id, with: body.required("customer_id", body.customerID, "the family member to share with"))
        }
        post("/control/receipts/refresh", ["bundle_id", "customer_id", "fault"]) { state, body, call -> Members in
            try EvidenceFault.check(body.fault, of: .appReceipt)
            let receipt = try state.store.refreshReceipt(of: body.bundleID, for: body.customerID)
            return try state.answer(with: receipt, by: call.issuer, fault: body.fault)
        }
        post("/control/receipts/restore", ["bundle_id", "customer_id", "fault"]) { state, body, call -> Members in
            try EvidenceFault.check(body.fault, of: .appReceipt)
            let restored = try state.store.restore(body.bundleID, for: body.customerID)
            let receipt = try state.store.receipt(of: body.bundleID, for: body.customerID)
            return try state.answer(with: receipt, by: call.issuer, fault: body.fault, restored: restored)
        }
        get("/control/events") { state, call -> Members in
            guard let after = Int(call.uri.queryParameters["after"] ?? "0"), after >= 0 else {
                throw StoreError(.invalidValue, "'after' is the number of an event.")
            }
            return ["events": Array(state.store.events.filter { $0.number > after }.prefix(1000))]
        }
        let service = service
        router.get("/control/events/{id}/notification") { request, context in
            let call = Call(request, context, service)
            let number = try call.number("/control/events/7/notification")
            let json = try await service.change { state, _ in try state.notification(of: number, by: call.issuer) }
            return Response.json(bytes: json)
        }
    }

    private func addTransaction(
        _ action: String, _ change: @escaping @Sendable (inout AppStore, String, RequestBody) throws -> StoreTransaction
    ) {
        post(
            "/control/transactions/{id}/\(action)", ["reason", "percentage", "customer_id", "seats"]
        ) { state, body, call in
            // What an action does not need has the right type, too.
            let _: (Int?, Int64?, String?, UInt64?) = try (body.reason, body.percentage, body.customerID, body.seats)
            return try state.answer(with: change(&state.store, call.id, body), by: call.issuer)
        }
    }

    /// Actions on subscriptions. To renew one, the clock moves to its due time, and everything else that is due by then
    /// also happens.
    func addSubscriptions() {
        get("/control/subscriptions/{id}") { state, call in
            try state.answer(with: state.store.subscription(call.id), by: call.issuer)
        }
        addSubscription("renew") { store, id, _ in try store.letFallDue(id, billingWorks: true) }
        addSubscription("fail-billing") { store, id, _ in try store.letFallDue(id, billingWorks: false) }
        addSubscription("enter-grace") { store, id, _ in
            let subscription = try store.subscription(id)
            try require(
                subscription.status == .active, .wrongState,
                "The subscription is \(subscription.status.rawValue), not active.")
            try require(
                store.app(subscription.bundleID).gracePeriodDays > 0, .wrongState,
                "The app '\(subscription.bundleID)' has no grace period.")
            return try store.letFallDue(id, billingWorks: false)
        }
        addSubscription("recover") { store, id, _ in
            let status = try store.subscription(id).status
            try require(
                status == .gracePeriod || status == .billingRetry, .wrongState,
                "The subscription is \(status.rawValue); no payment is pending.")
            return try store.setBilling(works: true, for: id)
        }
        addSubscription("billing") { store, id, body in
            let works = try body.required("works", body.works, "whether the next settings.payments succeed") as Bool
            return try store.setBilling(works: works, for: id)
        }
        addSubscription("cancel") { store, id, _ in try store.setAutoRenewal(false, for: id) }
        addSubscription("resume") { store, id, _ in try store.setAutoRenewal(true, for: id) }
        addSubscription("extend") { store, id, body in
            try store.extendRenewal(
                of: id, days: body.required("days", body.days, "the number of days to extend by"))
        }
        addSubscription("accept-price") { store, id, _ in try store.acceptPrice(of: id) }
        addSubscription("change-product") { store, id, body in
            try store.changeProduct(
                of: id, to: body.required("product_id", body.productID, "the product to change to"))
            return try store.subscription(id)
        }
        addSubscription("set-seats") { store, id, body in
            try store.setRenewalSeats(
                body.required("seats", body.seats, "their number"), of: id, notificationType: body.notificationType)
        }
        addSeat("add-seats") { store, id, body in
            try store.addSeats(
                body.required("seats", body.seats, "their number"), to: id, notificationType: body.notificationType)
        }
        addSeat("assign-seat") { store, id, body in
            try store.assignSeat(
                of: id, to: body.required("customer_id", body.customerID, "the member who gets the seat"))
        }
    }

    private static let subscriptionMembers: [BodyMember] = [
        "works", "days", "product_id", "seats", "customer_id", "notification_type",
    ]

    /// What an action does not need has the right type, too.
    private static func checkSubscriptionMembers(_ body: RequestBody) throws {
        let _: (Bool?, Int?, String?) = try (body.works, body.days, body.productID)
        let _: (UInt64?, String?, String?) = try (body.seats, body.customerID, body.notificationType)
    }

    private func addSubscription(
        _ action: String,
        _ change: @escaping @Sendable (inout AppStore, String, RequestBody) throws -> StoreSubscription
    ) {
        post("/control/subscriptions/{id}/\(action)", Self.subscriptionMembers) { state, body, call in
            try Self.checkSubscriptionMembers(body)
            let before = state.store.now
            let subscription = try change(&state.store, call.id, body)
            if state.store.now != before { state.setClock(call.world) }
            return try state.answer(with: subscription, by: call.issuer)
        }
    }

    /// An action that makes a transaction, and answers with it.
    private func addSeat(
        _ action: String, _ change: @escaping @Sendable (inout AppStore, String, RequestBody) throws -> StoreTransaction
    ) {
        post("/control/subscriptions/{id}/\(action)", Self.subscriptionMembers, .created) { state, body, call in
            try Self.checkSubscriptionMembers(body)
            return try state.answer(with: change(&state.store, call.id, body), by: call.issuer)
        }
    }

    /// Sends the evidence of a transaction to the server under test, and shows its answer.
    func addDelivery(_ target: EvidenceTarget) {
        let service = service
        router.post("/control/transactions/{id}/send") { request, context in
            let call = Call(request, context, service)
            let body = try await request.read(["way", "customer_id", "order_id"])
            let (way, customerID, orderID): (EvidenceDelivery.Way?, String?, String?) = (
                try body.way, try body.customerID, try body.orderID
            )
            let delivery = try target.requiredDelivery()
            let message = try await service.change { state, _ in
                let transaction = try state.store.transaction(call.id)
                return EvidenceDelivery.message(
                    way ?? .signedTransaction, transaction, try state.evidence(of: transaction, by: call.issuer),
                    app: try state.store.app(transaction.bundleID), customerID: customerID, orderID: orderID)
            }
            return Response.json(bytes: try await delivery.send(message))
        }
        router.get("/control/customers/{id}/server-entitlements") { request, context in
            let call = Call(request, context, service)
            // A name with other letters than ASCII arrives encoded.
            let customerID = call.id.removingPercentEncoding ?? call.id
            let bundleID = try call.query("bundle_id")
            let delivery = try target.requiredDelivery()
            let environment = try await service.change { state, _ in
                _ = try state.store.app(bundleID)
                return try state.store.customer(customerID).environment.rawValue
            }
            return Response.json(
                bytes: try await delivery.entitlements(of: customerID, in: environment, bundleID: bundleID))
        }
    }
}

extension AppStore {
    /// Lets the next payment of a subscription succeed or fail, and moves the clock to it.
    fileprivate mutating func letFallDue(_ id: String, billingWorks works: Bool) throws -> StoreSubscription {
        try setBilling(works: works, for: id)
        return try letFallDue(id)
    }
}

extension RequestBody {
    /// A member without which an action is refused.
    fileprivate func required<Value>(_ name: String, _ value: Value?, _ meaning: String) throws -> Value {
        guard let value else { throw StoreError(.invalidValue, "'\(name)' is missing: \(meaning).") }
        return value
    }
}

extension EvidenceTarget {
    fileprivate func requiredDelivery() throws -> EvidenceDelivery {
        guard let delivery else {
            throw SimulatorRefusal(
                .conflict, "no_server",
                "The simulator knows no server. Start it with '--server http://HOST:PORT', and with '--server-key-file FILE' "
                    + "for /v1/purchases.")
        }
        return delivery
    }
}

extension ServiceState {
    /// A receipt as the store last made it.
    fileprivate mutating func answer(
        with receipt: StoreReceipt, by issuer: EvidenceIssuer, fault: String?, restored: [StoreTransaction]? = nil
    ) throws -> Members {
        [
            "app_receipt": try appReceipt(receipt, by: issuer, fault: fault), "creation_date": receipt.creationDate,
            "transactions": receipt.transactions, "restored": restored,
        ]
    }

    /// A subscription, the transaction of its present period, and its evidence.
    fileprivate mutating func answer(
        with subscription: StoreSubscription, by issuer: EvidenceIssuer
    ) throws -> Members {
        let transaction = try store.transaction(subscription.transactionID)
        let claims = settings.serverAPI.seatClaims[subscription.originalTransactionID]
        return [
            "subscription": subscription, "transaction": transaction,
            "evidence": try evidence(of: transaction, by: issuer), "clock": clockAnswer,
            // Those of the present period that are not refunded; nil if the product has no seats.
            "seats": subscription.renewalSeats.map { _ in store.seats(of: subscription) },
            // The seats that the app's backend has claimed; nil without any.
            "seat_claims": claims?.map { claim -> Members in
                ["seat_claim_id": claim.seatClaimID, "app_transaction_id": claim.appTransactionID]
            },
        ]
    }
}
