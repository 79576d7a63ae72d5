import Foundation
import TextFormats

extension AppStore {
    /// Shares a non-consumable or the present period of a subscription with a family member, who gets their own
    /// transactions.
    /// - Throws: `unknown_transaction`, `unknown_customer`, `not_shareable`, `wrong_state`.
    @discardableResult
    public mutating func share(_ transactionID: String, with customerID: String) throws(StoreError) -> StoreTransaction
    {
        let transaction = try transaction(transactionID)
        let member = try customer(customerID)
        let product = try product(transaction.productID, of: transaction.bundleID)
        guard product.isFamilyShareable, product.kind == .nonConsumable || product.kind == .autoRenewable else {
            throw StoreError(.notShareable, "The product '\(product.productID)' cannot be shared with a family.")
        }
        guard transaction.revocation == nil, transaction.ownership == .purchased, transaction.customerID != customerID,
            member.environment == transaction.environment,
            !copies(of: transactionID).flatMap(sharedTransactions).contains(where: { $0.customerID == customerID })
        else {
            throw StoreError(
                .wrongState,
                "The transaction '\(transactionID)' cannot be shared with '\(customerID)', or is already shared.")
        }
        let subscription = state.subscriptions[transaction.originalTransactionID]
        if product.kind == .autoRenewable {
            guard let subscription, subscription.isUsable, subscription.transactionID == transactionID else {
                throw StoreError(.wrongState, "Only the present period of a subscription can be shared.")
            }
        }
        let shared = mintShared(from: transaction, for: customerID, original: nil)
        let follower = subscription.map { openFollower(of: $0, shared) }
        record(
            .shared, "\(transaction.productID) is shared with \(customerID)", shared, follower,
            notify: product.kind == .autoRenewable ? ("SUBSCRIBED", "INITIAL_BUY") : ("ONE_TIME_CHARGE", nil))
        makeReceipt(shared.bundleID, member)
        return shared
    }

    /// Opens the subscription of a member, which always has the state of the one that it is shared from.
    mutating func openFollower(of subscription: StoreSubscription, _ shared: StoreTransaction) -> StoreSubscription {
        var follower = StoreSubscription(
            originalTransactionID: shared.transactionID, bundleID: shared.bundleID, customerID: shared.customerID,
            groupID: subscription.groupID, productID: shared.productID, transactionID: shared.transactionID,
            status: subscription.status, expiresDate: subscription.expiresDate, autoRenewProductID: shared.productID,
            renewalPrice: 0, recentStartDate: now, sharedFrom: subscription.originalTransactionID)
        follower.gracePeriodExpiresDate = subscription.gracePeriodExpiresDate
        follower.expirationIntent = subscription.expirationIntent
        store(follower)
        return follower
    }

    /// Ends the sharing of a transaction with a family member.
    /// - Parameter transactionID: the member's transaction.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func revokeSharing(of transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try transaction(transactionID)
        guard transaction.ownership != .purchased, transaction.revocation == nil else {
            throw StoreError(.wrongState, "The transaction '\(transactionID)' is not shared.")
        }
        revokeShared(transaction)
        return try self.transaction(transactionID)
    }

    /// Ends the sharing of a transaction and of its restored copies.
    mutating func revokeShared(_ shared: StoreTransaction) {
        let revocation = StoreTransaction.Revocation(
            date: now, reason: 0, kind: shared.ownership == .assigned ? .assignment : .familySharing, percentage: nil)
        var subscription: StoreSubscription?
        for copy in copies(of: shared.transactionID) {
            state.transactions[copy]?.revocation = revocation
            subscription = revokeSubscription(of: copy)
        }
        record(
            .revoked, "\(shared.productID) is no longer shared with \(shared.customerID)",
            state.transactions[shared.transactionID], subscription, notify: ("REVOKE", nil))
    }

    /// Gives family members the period that the paying member just got.
    mutating func shareWithFamily(_ subscription: StoreSubscription, _ transaction: StoreTransaction) {
        for var follower in followers(of: subscription) where follower.status != .revoked && follower.status != .expired
        {
            if transaction.purchaseDate < follower.expiresDate { markUpgraded(follower.transactionID) }
            let shared = mintShared(from: transaction, for: follower.customerID, original: follower)
            follower.productID = shared.productID
            follower.autoRenewProductID = shared.productID
            follower.transactionID = shared.transactionID
            follower.expiresDate = subscription.expiresDate
            follower.status = .active
            follower.gracePeriodExpiresDate = nil
            follower.expirationIntent = nil
            store(follower)
            record(
                .renewed, "\(shared.productID) is renewed for \(follower.customerID), too", shared, follower,
                notify: ("DID_RENEW", nil))
        }
    }

    /// Updates the subscriptions of family members to the state of the paying member's.
    mutating func followSuit(
        _ subscription: StoreSubscription, _ kind: StoreEvent.Kind, notify: (type: String, subtype: String?)
    ) {
        for var follower in followers(of: subscription) where follower.isUsable || follower.status == .billingRetry {
            follower.status = subscription.status
            follower.expirationIntent = subscription.expirationIntent
            follower.gracePeriodExpiresDate = subscription.gracePeriodExpiresDate
            store(follower)
            record(
                kind, "\(follower.productID) of \(follower.customerID) follows the subscription that it is shared from",
                of: follower, notify: notify)
        }
    }

    /// The subscriptions of family members, oldest first.
    func followers(of subscription: StoreSubscription) -> [StoreSubscription] {
        state.subscriptions.sorted { $0.sharedFrom == subscription.originalTransactionID }
    }

    /// The family members' copies of a transaction: the same product at the same time, not revoked.
    func sharedTransactions(from transactionID: String) -> [StoreTransaction] {
        state.transactions.sorted {
            $0.ownership != .purchased && $0.revocation == nil && $0.sharedFromTransactionID == transactionID
        }
    }

    /// Mints the transaction of a family member, or of a member with a seat.
    mutating func mintShared(
        from transaction: StoreTransaction, for customerID: String, original: StoreSubscription?,
        as ownership: StoreTransaction.Ownership = .familyShared
    ) -> StoreTransaction {
        let transactionID = nextTransactionID(transaction.environment)
        let first = original.flatMap { state.transactions[$0.originalTransactionID] }
        let isSubscription = transaction.kind == .autoRenewable
        var shared = transaction.copy(as: transactionID)
        shared.originalTransactionID = first?.transactionID ?? transactionID
        shared.customerID = customerID
        shared.sharedFromTransactionID = transaction.transactionID
        shared.purchaseDate = isSubscription ? transaction.purchaseDate : now
        shared.originalPurchaseDate = first?.purchaseDate ?? now
        shared.webOrderLineItemID = isSubscription ? nextLineItemID(transaction.environment) : nil
        shared.ownership = first?.ownership ?? ownership
        shared.reason = original == nil ? .purchase : .renewal
        (shared.quantity, shared.price, shared.offer, shared.appAccountToken) = (1, 0, nil, nil)
        state.transactions[transactionID] = shared
        return shared
    }
}

extension AppStore {
    /// The largest number of seats of one transaction.
    public static let maximumSeats: UInt64 = 10_000

    /// The reason on each transaction of a period to which seats were added (`additionalTransactionReason`).
    static let seatAddition = "SEAT_ADDITION"

    /// Adds seats to the present period of a subscription: a second transaction with the same end, which does not
    /// replace the first one. The next period has as many seats more.
    /// - Parameter notificationType: the type of the notification with the subtype `INCREASE_QUANTITY`; nil sends none.
    ///   Apple's pages do not say which type has it.
    /// - Returns: the new transaction.
    /// - Throws: `unknown_subscription`, `wrong_state`, `invalid_value`.
    @discardableResult
    public mutating func addSeats(
        _ seats: UInt64, to originalTransactionID: String, notificationType: String? = nil
    ) throws(StoreError) -> StoreTransaction {
        var subscription = try subscriptionWithSeats(originalTransactionID)
        try Self.checkSeats(seats)
        if let notificationType { try Self.checkWord(notificationType, "type") }
        // In a grace period the paid time is over, and an addition would end before it begins.
        guard subscription.status == .active, let first = periodTransactions(of: subscription).first else {
            throw StoreError(.wrongState, "The subscription is \(subscription.status.rawValue), not active.")
        }
        let product = try product(subscription.productID, of: subscription.bundleID)
        let transactionID = nextTransactionID(first.environment)
        var added = first.copy(as: transactionID)
        (added.quantity, added.seatsAddedTo, added.reason, added.offer) = (seats, first.transactionID, .purchase, nil)
        (added.purchaseDate, added.expiresDate) = (now, subscription.expiresDate)
        added.webOrderLineItemID = nextLineItemID(first.environment)
        (added.price, added.currency) = (product.price, product.currency)
        state.transactions[transactionID] = added
        for transaction in periodTransactions(of: subscription) {
            state.transactions[transaction.transactionID]?.additionalReason = Self.seatAddition
        }
        let renewalSeats = (subscription.renewalSeats ?? 0) + seats
        subscription.renewalSeats = renewalSeats
        store(subscription)
        added = try transaction(transactionID)
        record(
            .seatsAdded, "\(added.customerID) adds \(counted(seats, "seat")) of \(added.productID)", added,
            subscription,
            notify: notificationType.map { ($0, "INCREASE_QUANTITY") })
        makeReceipt(added.bundleID, try customer(added.customerID))
        return added
    }

    /// Sets the number of seats of the next period.
    /// - Parameter notificationType: the type of the notification with the subtype `INCREASE_QUANTITY` or
    ///   `DECREASE_QUANTITY`; nil sends none.
    /// - Throws: `unknown_subscription`, `wrong_state`, `invalid_value`.
    @discardableResult
    public mutating func setRenewalSeats(
        _ seats: UInt64, of originalTransactionID: String, notificationType: String? = nil
    ) throws(StoreError) -> StoreSubscription {
        var subscription = try subscriptionWithSeats(originalTransactionID)
        try Self.checkSeats(seats)
        if let notificationType { try Self.checkWord(notificationType, "type") }
        let earlier = subscription.renewalSeats ?? 0
        guard seats != earlier, subscription.status != .expired, subscription.status != .revoked else {
            throw StoreError(
                .wrongState,
                "The subscription is \(subscription.status.rawValue), and its next period has "
                    + "\(counted(earlier, "seat")) already."
            )
        }
        subscription.renewalSeats = seats
        store(subscription)
        record(
            .renewalSeatsChanged,
            "the next period of \(subscription.productID) of \(subscription.customerID) has \(counted(seats, "seat"))",
            of: subscription,
            notify: notificationType.map { ($0, seats > earlier ? "INCREASE_QUANTITY" : "DECREASE_QUANTITY") })
        return subscription
    }

    /// Refunds seats of a transaction. Only when all of its seats are refunded is it revoked, and only when every
    /// transaction of the period is revoked does the subscription end.
    /// - Throws: `unknown_transaction`, `wrong_state`, `invalid_value`.
    @discardableResult
    public mutating func refundSeats(
        _ seats: UInt64, of transactionID: String, reason: Int = 0
    ) throws(StoreError) -> StoreTransaction {
        var transaction = try refundable(transactionID)
        guard let revoked = transaction.seats?.revoked else {
            throw StoreError(.wrongState, "The product '\(transaction.productID)' has no seats.")
        }
        try require(reason == 0 || reason == 1, .invalidValue, "The reason is 0 or 1, not \(reason).")
        let left = transaction.quantity - revoked
        try require(
            (1...left).contains(seats), .invalidValue,
            "The transaction '\(transactionID)' has \(counted(left, "seat")) to refund, not \(seats).")
        if seats == left {
            transaction.revocation = StoreTransaction.Revocation(
                date: now, reason: reason, kind: .refund, percentage: nil)
            return refundAllSeats(of: transaction, subtype: "SEATS")
        }
        transaction.seats?.revoked = revoked + seats
        state.transactions[transactionID] = transaction
        record(
            .refunded,
            "\(counted(seats, "seat")) of \(transaction.productID) \(seats == 1 ? "is" : "are") refunded to "
                + "\(transaction.customerID)",
            transaction, state.subscriptions[transaction.originalTransactionID], notify: ("REFUND", "SEATS"))
        return transaction
    }

    /// Refunds a transaction with seats as a whole.
    mutating func refundAllSeats(of transaction: StoreTransaction, subtype: String?) -> StoreTransaction {
        var transaction = transaction
        transaction.seats?.revoked = transaction.quantity
        state.transactions[transaction.transactionID] = transaction
        var subscription = state.subscriptions[transaction.originalTransactionID]
        var ends = false
        if var revoked = subscription, isOfPresentPeriod(transaction, of: revoked),
            periodTransactions(of: revoked).allSatisfy({ $0.revocation != nil })
        {
            revoked.status = .revoked
            revoked.autoRenews = false
            revoked.gracePeriodExpiresDate = nil
            store(revoked)
            subscription = revoked
            ends = true
        }
        record(
            .refunded,
            "all seats of a transaction of \(transaction.productID) are refunded to \(transaction.customerID)",
            transaction, subscription, notify: ("REFUND", subtype))
        guard ends, let subscription else { return transaction }
        for member in followers(of: subscription) {
            guard let shared = state.transactions[member.transactionID], shared.revocation == nil else { continue }
            revokeShared(shared)
        }
        return transaction
    }

    /// Gives a seat to a member, who gets transactions of their own. Only for products whose members Apple invites.
    /// - Returns: the member's transaction.
    /// - Throws: `unknown_subscription`, `unknown_customer`, `wrong_state`.
    @discardableResult
    public mutating func assignSeat(
        of originalTransactionID: String, to customerID: String
    ) throws(StoreError) -> StoreTransaction {
        let subscription = try subscriptionWithSeats(originalTransactionID)
        let member = try customer(customerID)
        let members = followers(of: subscription).filter(\.isUsable)
        guard let first = periodTransactions(of: subscription).first, subscription.isUsable,
            first.seats?.invitations == .apple
        else {
            throw StoreError(
                .wrongState,
                "The subscription is \(subscription.status.rawValue), or the app's backend invites its members.")
        }
        guard member.environment == first.environment, !members.contains(where: { $0.customerID == customerID }) else {
            throw StoreError(.wrongState, "'\(customerID)' has a seat already, or is in the other environment.")
        }
        guard members.count < seats(of: subscription) else {
            throw StoreError(
                .wrongState,
                members.count == 1 ? "The one seat is assigned." : "All \(members.count) seats are assigned.")
        }
        let shared = mintShared(from: first, for: customerID, original: nil, as: .assigned)
        let follower = openFollower(of: subscription, shared)
        record(
            .seatAssigned, "\(customerID) has a seat of \(shared.productID)", shared, follower,
            notify: ("SUBSCRIBED", "INITIAL_BUY"))
        makeReceipt(shared.bundleID, member)
        return shared
    }

    /// The seats of the present period that are not refunded.
    public func seats(of subscription: StoreSubscription) -> Int {
        periodTransactions(of: subscription).filter { $0.revocation == nil }
            .reduce(0) { $0 + Int($1.quantity) - Int($1.seats?.revoked ?? 0) }
    }

    /// The transactions that paid for the present period: one, and those that added seats to it. Not their restored
    /// copies.
    public func periodTransactions(of subscription: StoreSubscription) -> [StoreTransaction] {
        guard let first = copies(of: subscription.transactionID).first.flatMap({ state.transactions[$0] }) else {
            return []
        }
        guard first.seats != nil else { return [first] }
        return [first] + state.transactions.sorted { $0.seatsAddedTo == first.transactionID }
    }

    /// Whether a transaction paid for the present period.
    func isOfPresentPeriod(_ transaction: StoreTransaction, of subscription: StoreSubscription) -> Bool {
        periodTransactions(of: subscription).contains { $0.transactionID == transaction.transactionID }
    }

    private func subscriptionWithSeats(_ originalTransactionID: String) throws(StoreError) -> StoreSubscription {
        let subscription = try subscription(originalTransactionID)
        try refuseFollower(subscription)
        try require(
            subscription.renewalSeats != nil, .wrongState, "The product '\(subscription.productID)' has no seats.")
        return subscription
    }

    private static func checkSeats(_ seats: UInt64) throws(StoreError) {
        guard (1...maximumSeats).contains(seats) else {
            throw StoreError(.invalidValue, "The number of seats is 1 to \(maximumSeats), not \(seats).")
        }
    }
}
