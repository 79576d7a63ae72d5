public import PurchaseVerification

/// The statements of one piece of verified evidence about transactions and renewals, independent of its sender and
/// claim.
///
/// Evidence without an environment states nothing here, because its facts would have no key. App transactions prove the
/// download of the app, not a purchase.
public struct Observation: Sendable, Equatable {
    /// The transactions, in the order of the evidence.
    public let transactions: [TransactionStatement]
    /// The renewal info.
    public let renewals: [RenewalStatement]
    /// The status of the subscription that a notification is about.
    public let statuses: [StatusStatement]
    /// The facts of this evidence alone: one value for each transaction, in the order of their first statements.
    public let transactionFacts: [ObservedTransaction]

    /// Reads every statement of the evidence. A transaction whose id is not an identifier is skipped.
    public init(_ evidence: VerifiedEvidence) {
        var status: StatusStatement?
        switch evidence {
        case .appReceipt(let receipt):
            (transactions, renewals) = (receipt.statements, [])
        case .transactionReceipt(let receipt):
            (transactions, renewals) = ([receipt.statement].compactMap(\.self), [])
        case .signedTransaction(let transaction):
            (transactions, renewals) = ([transaction.statement].compactMap(\.self), [])
        case .signedRenewalInfo(let renewalInfo):
            (transactions, renewals) = ([], [renewalInfo.statement].compactMap(\.self))
        case .notification(let notification):
            transactions = [notification.transaction?.statement].compactMap(\.self)
            var renewal = notification.renewalInfo?.statement
            status = StatusStatement(notification, transactions.first.map { ObservedTransaction($0) }, renewal)
            if let status, status.status.value == SignedStatus.inGrace, renewal?.info.graceEnd == nil {
                renewal = RenewalStatement(graceOf: status, renewal)
            }
            renewal?.beside = transactions.first?.key.transactionID
            renewals = [renewal].compactMap(\.self)
        case .appTransaction, .realtimeRequest:
            (transactions, renewals) = ([], [])
        }
        transactionFacts = Self.facts(of: transactions)
        statuses = [status].compactMap(\.self)
    }

    private static func facts(of transactions: [TransactionStatement]) -> [ObservedTransaction] {
        var places: [TransactionKey: Int] = [:]
        var facts: [ObservedTransaction] = []
        for statement in transactions {
            if let place = places[statement.key] {
                facts[place] = facts[place].merged(with: statement)
            } else {
                places[statement.key] = facts.count
                facts.append(ObservedTransaction(statement))
            }
        }
        return facts
    }
}

extension StatusStatement {
    /// The status that a notification states, signed with the notification itself; `nil` if it states none, or about no
    /// subscription.
    fileprivate init?(
        _ notification: AppStoreNotification, _ transaction: ObservedTransaction?, _ renewal: RenewalStatement?
    ) {
        guard let value = notification.data?.status?.rawValue, let stamp = notification.signedDate,
            renewal != nil || transaction?.kind == .autoRenewable,
            let key = transaction?.renewal ?? renewal?.key
        else { return nil }
        self.init(
            key: key, holder: transaction?.ownership.holder ?? .buyer,
            status: SignedStatus(value: value, stamp: stamp))
    }
}

extension RenewalStatement {
    /// Renewal info without the end of the grace period that the status signed beside it states.
    fileprivate init(graceOf status: StatusStatement, _ stated: RenewalStatement?) {
        self = stated ?? RenewalStatement(key: status.key, stamp: status.status.stamp, info: RenewalInfo())
        stamp = max(stamp, status.status.stamp)
        info.isGraceEndUnknown = true
    }
}

extension ExactText {
    /// Text of evidence that can be stored as an identifier; other text counts as not stated.
    package init?(identifier text: String?) {
        guard let text else { return nil }
        self.init(text)
        guard isIdentifier else { return nil }
    }

    /// The line item of a period; purchases without one state 0 or nothing.
    package init?(lineItem text: String?) {
        self.init(identifier: text)
        guard self != "0" else { return nil }
    }
}

extension ObservedTransaction {
    /// Apple's withdrawal of the transaction according to its own newest facts; `nil` if there is none. Whether a
    /// purchase is withdrawn depends on all of its copies.
    public var withdrawal: Withdrawal? { [self].withdrawal }
}

extension [ObservedTransaction] {
    /// Apple's withdrawal of the purchase with these copies; `nil` if there is none.
    ///
    /// The statements of all copies count together, because Apple signs newer data only for the transaction that it
    /// names, never for the ids of old copies. A cancellation counts if it is later than the newest signed transaction,
    /// or if there is none; otherwise the newest signed transaction decides. So receipts never reverse a refund, but
    /// newer signed data without a revocation does, whichever copies the two are about. A cancellation by an upgrade
    /// withdraws nothing.
    public var withdrawal: Withdrawal? {
        // Most purchases were never withdrawn.
        guard contains(where: { $0.cancellation != nil || $0.signedRevocation != nil }), let quantity = first?.quantity
        else { return nil }
        let stated = compactMap(\.fields.revocation)
        let newest = stated.first.map { stated.dropFirst().reduce($0, StampedRevocation.newer) }
        if let cancellation = compactMap(\.cancellation).max(), newest.map({ $0.stamp < cancellation }) ?? true,
            !isUpgrade(cancellation)
        {
            return Withdrawal(date: cancellation, cause: .cancelled, units: quantity)
        }
        guard let newest, let revocation = newest.revocation, revocation.share > 0, !isSharedAgain(after: newest)
        else { return nil }
        var withdrawal = Withdrawal(
            date: revocation.date, cause: .revoked, units: revocation.units(of: quantity), stamp: newest.stamp,
            isFamilyRevoke: revocation.type == Revocation.familyRevoke)
        withdrawal.appStoreReason = revocation.reason
        return withdrawal
    }

    /// When the customer upgraded, by the statements of all copies together; `nil` if newer signed data does not say
    /// so.
    var upgradedAt: Timestamp? { upgrade.map(\.earliest) }

    private var upgrade: StampedUpgrade? {
        guard contains(where: \.wasUpgraded) else { return nil }
        return StampedUpgrade.merged(map(\.fields)).flatMap { $0.isInForce ? $0 : nil }
    }

    /// Whether a cancellation is the end of the period by an upgrade.
    private func isUpgrade(_ cancellation: Timestamp) -> Bool {
        upgrade.map { cancellation <= $0.newest || cancellation.isWithinMinute(of: $0.newest) } ?? false
    }

    /// Whether the revocation ends a share of a family that another copy shows again: pages of the history sign both.
    private func isSharedAgain(after newest: StampedRevocation) -> Bool {
        guard let revocation = newest.revocation, revocation.type == Revocation.familyRevoke else { return false }
        let clean = compactMap(\.fields.revocation).filter { $0.revocation.map { $0.share == 0 } ?? true }
        return clean.contains { $0.stamp >= revocation.date }
    }
}

extension Revocation {
    /// The number of withdrawn units of a quantity: none at 0 %, otherwise the share rounded to the nearest whole
    /// number, at least 1 and at most all. 33,333 of 3 are 1, and 66,667 of 3 are 2.
    public func units(of quantity: Int64) -> Int64 {
        let quantity = max(0, quantity)
        guard share > 0, share < Self.whole else { return share == 0 ? 0 : quantity }
        // Rounded half up, in parts that cannot overflow: quantity = 100,000 · whole + rest.
        let (whole, rest) = quantity.quotientAndRemainder(dividingBy: Self.whole)
        let units = whole * share + (rest * share + Self.whole / 2) / Self.whole
        return min(max(1, units), quantity)
    }
}
