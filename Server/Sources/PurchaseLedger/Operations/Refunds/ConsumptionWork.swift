public import PurchaseVerification

public import struct Foundation.UUID

/// An answer that has to be sent to Apple.
public struct ConsumptionWork: Sendable, Equatable {
    /// The entry of the notification that asked.
    public var request: UUID
    public var app: String
    public var bundleID: String?
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var deadline: Timestamp
    /// The attempts so far that had no answer.
    public var attempts: Int
    public var answer: ConsumptionAnswer
    /// From what it was made.
    public var situation: ConsumptionSituation
}

/// Whether a refund request of one of some apps is due.
public struct DueConsumptionRequests: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var apps: [String]

    public init(apps: [String]) { self.apps = apps }

    public func answer(_ reader: LedgerTransaction) throws -> Bool {
        let keys = reader.registry.apps.filter { app in apps.contains { $0.isSame(as: app.settings.id) } }.map(\.key)
        return try !ConsumptionRequestsTable(connection: reader.connection).due(keys, at: reader.now, limit: 1).isEmpty
    }
}

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

/// Records that Apple gave no answer, and when it is told again.
public struct PostponeConsumptionAnswer: LedgerOperation {
    public var work: ConsumptionWork
    public var next: Timestamp

    /// The time of the next attempt.
    public init(_ work: ConsumptionWork, to next: Timestamp) {
        self.work = work
        self.next = next
    }

    public var locks: LedgerLocks { .parts([.requestLeases]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        guard let entry = try JournalTable(connection: transaction.connection).row(id: work.request) else { return }
        try ConsumptionRequestsTable(connection: transaction.connection)
            .postpone(entry.key, attempts: Int64(work.attempts + 1), to: next)
    }
}

/// Records that Apple took or refused what it was told about a purchase. Only the first record of a request counts.
public struct RecordConsumptionAnswer: LedgerOperation {
    public var work: ConsumptionWork
    /// Why Apple refused it; `nil` if Apple took it.
    public var refusal: String?
    /// Apple's number of the refusal.
    public var number: Int64?

    /// The outcome of an answer that was sent.
    public init(_ work: ConsumptionWork, refusal: String? = nil, number: Int64? = nil) {
        self.work = work
        self.refusal = refusal
        self.number = number
    }

    public var locks: LedgerLocks { .parts([.requestLeases]) }

    /// - Returns: whether this is the first record.
    public func perform(_ transaction: LedgerTransaction) throws -> Bool {
        let app = try transaction.app(work.app)
        let requests = ConsumptionRequestsTable(connection: transaction.connection)
        guard let entry = try JournalTable(connection: transaction.connection).row(id: work.request),
            let request = try requests.row(entry.key), request.answerEntry == nil
        else { return false }
        let place = try ConsumptionPlace(request, app, transaction)
        try place.lock()
        let owner = try ConsumptionReading(reader: transaction, app: app).situation(of: place.row).owner
        try transaction.lock(customers: { Set([owner?.key].compactMap(\.self)) })
        try place.record(
            refusal == nil ? .sent : .declined, answer: work.answer, refusal: refusal, number: number,
            situation: work.situation, owner: owner)
        return true
    }
}

/// `consumption_answered`: what Apple was told about the use of a purchase, or why it was told nothing.
struct ConsumptionAnsweredDetails: LedgerInput {
    static var kind: JournalKind { .consumptionAnswered }
    /// The notification that asked (Apple, "notificationUUID").
    var notificationID: String
    var environment: String
    /// Empty after an erasure, like everything that says how the purchase was used.
    var transactionID: String
    /// What Apple took; `nil` if nothing was sent.
    var answer: ConsumptionAnswer?
    /// Why nothing was sent.
    var refusal: String?
    /// Apple's number, if it refused the answer.
    var number: Int64?
    /// From what the answer was made; other policies are compared with it.
    var situation: ConsumptionSituation?
    /// Whether Apple took an answer.
    var isSent: Bool

    func redacted(_ scope: ErasureScope) -> ConsumptionAnsweredDetails? {
        var kept = self
        (kept.transactionID, kept.answer, kept.situation, kept.refusal) = ("", nil, nil, nil)
        return kept
    }

    func run(_ write: EntryWrite) throws {
        _ = try write.customer()
        guard !write.isOfEntriesAlone else { return }
        let environment = try write.transaction.environments.keyToWrite(of: AppStoreEnvironment(environment))
        let requests = ConsumptionRequestsTable(connection: write.connection)
        let request = try NotificationsTable(connection: write.connection)
            .entry(notificationID, appKey: write.app.key, environment: environment)
            .flatMap { key throws(LedgerStorageError) in try requests.row(key) }
        guard let request, request.answerEntry == nil else {
            return try write.impossible("there is no open refund request before it", unlessErased: true)
        }
        try requests.finish(request.entryKey, isSent ? .sent : .declined, answer: write.entry.key)
    }
}
