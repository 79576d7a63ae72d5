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
