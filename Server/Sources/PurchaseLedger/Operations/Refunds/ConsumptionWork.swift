public import PurchaseVerification

public import struct Foundation.UUID

/// An answer that has to be sent to Apple.
public struct ConsumptionWork: Sendable, Equatable {
    /// The piece of work, whose progress is the answer.
    public var work: LedgerWork
    /// The entry of the notification that asked.
    public var request: UUID
    public var app: String
    public var bundleID: String?
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var deadline: Timestamp
    public var answer: ConsumptionAnswer
    /// From what it was made.
    public var situation: ConsumptionSituation
}

/// Decides what Apple is told about a refund request. Its work (`WorkKind.refund`) is leased.
public struct DecideConsumptionAnswer: LedgerOperation {
    /// How long a request without an owner or a consent waits until it is looked at again, in milliseconds.
    public static let wait: Int64 = 300_000

    public var work: LedgerWork

    public init(_ work: LedgerWork) { self.work = work }

    public var locks: LedgerLocks { .parts([.work]) }

    /// - Returns: the answer to send, which `RecordConsumptionAnswer` ends; `nil` if the request was declined, waits,
    ///   or is no longer open.
    public func perform(_ transaction: LedgerTransaction) throws -> ConsumptionWork? {
        let (key, table) = (try work.key(transaction), WorkTable(connection: transaction.connection))
        guard let row = try table.row(key), let entry = Int64(work.subject),
            let request = try ConsumptionRequestsTable(connection: transaction.connection).row(entry),
            request.state(at: transaction.now) == .open
        else {
            try table.delete(key)
            return nil
        }
        let app = try transaction.app(work.app)
        let place = try ConsumptionPlace(request, app, transaction)
        try place.lock()
        let (situation, owner) = try ConsumptionReading(reader: transaction, app: app).situation(of: place.row)
        try transaction.lock(customers: { Set([owner?.key].compactMap(\.self)) })
        // An answer that may have reached Apple is repeated as it was, unless the customer has changed their mind.
        if let begun = row.progress, situation.consent == .given {
            return try place.answer(begun, work)
        }
        switch ConsumptionDecision(situation, app.settings.refunds.policy(for: situation.productID)) {
        case .wait:
            try table.note(
                key, progress: row.progress, attempts: row.attempts,
                next: transaction.now.adding(milliseconds: Self.wait, times: 1), leasedUntil: nil)
            return nil
        case .decline(let refusal):
            try place.record(.declined, refusal: refusal.rawValue, situation: situation, owner: owner)
            return nil
        case .send(let answer):
            let decided = try DecidedConsumption(answer: answer, situation: situation).stored()
            try table.note(
                key, progress: decided, attempts: row.attempts, next: row.nextAt,
                leasedUntil: transaction.now.leaseEnd(of: .refund))
            return try place.answer(decided, work)
        }
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

    public var locks: LedgerLocks { .parts([.work]) }

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
        try requests.finish(request, isSent ? .sent : .declined, answer: write.entry.key)
    }
}
