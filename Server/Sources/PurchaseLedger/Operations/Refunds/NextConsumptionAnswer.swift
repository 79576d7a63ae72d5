import PurchaseVerification

/// Takes the refund request with the earliest deadline that is due, and decides what Apple is told about it. One server
/// at a time has it.
public struct NextConsumptionAnswer: LedgerOperation {
    /// How long a request without an owner or a consent waits until it is looked at again, in milliseconds.
    public static let wait: Int64 = 300_000

    /// The apps that can answer.
    public var apps: [String]

    /// The next request of the apps with these names.
    public init(apps: [String]) { self.apps = apps }

    /// The result.
    public enum Outcome: Sendable, Equatable {
        /// No request is due.
        case none
        /// A request was declined, or waits.
        case settled
        /// The answer to send. `RecordConsumptionAnswer` or `PostponeConsumptionAnswer` ends it.
        case send(ConsumptionWork)
    }

    public var locks: LedgerLocks { .parts([.requestLeases]) }

    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let requests = ConsumptionRequestsTable(connection: transaction.connection)
        let keys = transaction.registry.apps.filter { app in apps.contains { $0.isSame(as: app.settings.id) } }.map(
            \.key)
        guard let request = try requests.due(keys, at: transaction.now, limit: 1).first,
            let app = transaction.registry.app(key: request.appKey)
        else { return .none }
        let place = try ConsumptionPlace(request, app, transaction)
        try place.lock()
        let (situation, owner) = try ConsumptionReading(reader: transaction, app: app).situation(of: place.row)
        try transaction.lock(customers: { Set([owner?.key].compactMap(\.self)) })
        // An answer that may have reached Apple is repeated as it was, unless the customer has changed their mind.
        if let begun = request.answer, situation.consent == .given {
            try requests.lease(request.entryKey, until: leaseEnd(transaction), answer: begun)
            return .send(try place.work(try DecidedConsumption(stored: begun)))
        }
        switch ConsumptionDecision(situation, app.settings.refunds.policy(for: situation.productID)) {
        case .wait:
            try requests.postpone(
                request.entryKey, attempts: request.attempts,
                to: Timestamp(millisecondsSince1970: transaction.now.millisecondsSince1970 + Self.wait))
            return .settled
        case .decline(let refusal):
            try place.record(.declined, refusal: refusal.rawValue, situation: situation, owner: owner)
            return .settled
        case .send(let answer):
            let decided = DecidedConsumption(answer: answer, situation: situation)
            try requests.lease(request.entryKey, until: leaseEnd(transaction), answer: try decided.stored())
            return .send(try place.work(decided))
        }
    }

    private func leaseEnd(_ transaction: LedgerTransaction) -> Timestamp {
        Timestamp(millisecondsSince1970: transaction.now.millisecondsSince1970 + ConsumptionRequestRow.lease)
    }
}
