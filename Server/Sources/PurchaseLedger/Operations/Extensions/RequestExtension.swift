public import PurchaseVerification

/// Records that an operator wants Apple to extend a subscription. Apple's answer follows in another entry.
public struct RequestExtension: LedgerOperation {
    /// The days that Apple takes (Apple, "extendByDays").
    public static let days: ClosedRange<Int64> = 1...90
    /// The longest id that Apple takes, in bytes (Apple, "requestIdentifier").
    static let requestBytes = 128

    public var app: String
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment?
    /// Identifies the request: a repeated one answers with the first.
    public var requestID: String
    public var days: Int64
    public var extensionReason: ExtensionReasonCode
    public var reason: String

    /// An extension by days.
    public init(
        app: String, originalTransactionID: String, environment: AppStoreEnvironment? = nil, requestID: String,
        days: Int64, extensionReason: ExtensionReasonCode, reason: String
    ) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.requestID = requestID
        self.days = days
        self.extensionReason = extensionReason
        self.reason = reason
    }

    /// The request, and whether it was recorded before.
    public struct Outcome: Sendable {
        public var record: ExtensionRecord
        /// The question to Apple, which is leased to the server that received a new request.
        public var work: LedgerWork?

        public var isReplayed: Bool { work == nil }
    }

    public var locks: LedgerLocks { .parts([.extensionRequest(app, requestID)]) }

    /// - Throws: `field_malformed`, `purchase_unknown`, `purchase_ambiguous`, `extension_conflict`.
    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        guard Self.days.contains(days) else {
            throw LedgerRefusal(.fieldMalformed, expected: "days from 1 to 90", found: "\(days)")
        }
        guard ExactText(requestID).isIdentifier, requestID.utf8.count <= Self.requestBytes else {
            throw LedgerRefusal(.fieldMalformed, expected: "a request_id of 1 to \(Self.requestBytes) bytes")
        }
        let original = try transaction.subscription(originalTransactionID, environment, app)
        let named = try transaction.environments.environment(original.environment)
        try transaction.connection.lock { () throws(LedgerStorageError) in [.original(named, original.originalID)] }
        let extensions = ExtensionsTable(connection: transaction.connection)
        if let known = try extensions.row(request: requestID, appKey: app.key) {
            guard known.originalKey == original.key, known.days == days, known.reason == extensionReason else {
                throw LedgerRefusal(.extensionConflict, expected: "the extension of the first request")
            }
            return Outcome(record: try ExtensionRecord(known, transaction))
        }
        let periods = try transaction.transactions.rows(originalKey: original.key)
        guard periods.contains(where: { $0.kind == .autoRenewable }) else {
            throw LedgerRefusal(.purchaseUnknown, expected: "a subscription", found: originalTransactionID)
        }
        let details = ExtensionRequestedDetails(
            requestID: requestID, environment: named.name, originalID: original.originalID,
            originalSecond: original.xcodeSecond == 0 ? nil : original.xcodeSecond, days: days,
            extensionReason: extensionReason.rawValue, reason: reason)
        guard let row = try details.run(try transaction.append(transaction.draft(app), details)) else {
            throw LedgerStorageError(.other, "the request \(requestID) was not written")
        }
        let table = WorkTable(connection: transaction.connection)
        try table.lease(row.work, until: transaction.now.leaseEnd(of: .extension))
        let work = try table.row(row.work).flatMap { work throws(LedgerStorageError) in
            try LedgerWork(work, transaction)
        }
        return Outcome(record: try ExtensionRecord(row, transaction), work: work)
    }
}

/// A request for an extension of a subscription, and Apple's answer.
public struct ExtensionRecord: Sendable, Equatable {
    public var app: String
    public var requestID: String
    public var environment: AppStoreEnvironment
    public var originalTransactionID: String
    /// The bundle id that the subscription states.
    public var bundleID: String?
    public var days: Int64
    public var extensionReason: ExtensionReasonCode
    public var requestedAt: Timestamp
    public var state: ExtensionState
    public var answeredAt: Timestamp?
    /// The new end of the period, as Apple says it. Access follows the signed data that comes afterwards.
    public var effectiveDate: Timestamp?
    /// Apple's number, if it refused.
    public var number: Int64?

    init(_ row: ExtensionRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        let original = try OriginalsTable(connection: reader.connection).row(row.originalKey)
        app = reader.registry.app(key: row.appKey)?.settings.id ?? ""
        environment = try reader.environments.environment(original.environment)
        originalTransactionID = original.originalID
        (requestID, days, extensionReason) = (row.requestID, row.days, row.reason)
        (requestedAt, state) = (row.requestedAt, row.state)
        if let newest = try reader.transactions.rows(originalKey: row.originalKey).last(where: { !$0.isErased }) {
            bundleID = try newest.observed(in: environment).bundleID?.string
        }
        guard let key = row.answerEntry, let entry = try JournalTable(connection: reader.connection).row(key: key)
        else {
            return
        }
        answeredAt = entry.at
        guard let content = entry.details else { return }
        let details = try ExtensionAnsweredDetails(encoded: content)
        effectiveDate = details.effectiveDate.map { Timestamp(millisecondsSince1970: $0) }
        number = details.number
    }
}

/// The requests for extensions of a subscription, the newest first.
public struct ExtensionsOfSubscription: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment?
    public var limit: Int

    public init(app: String, originalTransactionID: String, environment: AppStoreEnvironment? = nil, limit: Int) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.limit = limit
    }

    /// - Throws: `purchase_unknown`, `purchase_ambiguous`.
    public func answer(_ reader: LedgerTransaction) throws -> [ExtensionRecord] {
        let original = try reader.subscription(originalTransactionID, environment, try reader.app(app))
        return try ExtensionsTable(connection: reader.connection).rows(original: original.key, limit: Int64(limit))
            .map { row throws(LedgerStorageError) in try ExtensionRecord(row, reader) }
    }
}

/// The request for an extension that work is about; `nil` if it has an answer.
public struct OpenExtension: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var work: LedgerWork

    public init(_ work: LedgerWork) { self.work = work }

    public func answer(_ reader: LedgerTransaction) throws -> ExtensionRecord? {
        guard let entry = Int64(work.subject),
            let row = try ExtensionsTable(connection: reader.connection).row(entry), row.state == .open
        else { return nil }
        return try ExtensionRecord(row, reader)
    }
}

/// Records Apple's answer to a request for an extension, or that there is none yet. Only the first answer counts.
public struct RecordExtensionAnswer: LedgerOperation {
    public var app: String
    public var requestID: String
    public var answer: Answer

    /// What Apple answered.
    public enum Answer: Sendable, Equatable {
        /// The new end of the period.
        case extended(until: Timestamp?)
        case refused(number: Int64?)
        /// No answer: Apple is asked again then, unless the request is a day old.
        case none(next: Timestamp)
        /// There was no answer, and Apple may have extended the period, so it is not asked again.
        case unknown
    }

    /// An answer.
    public init(app: String, requestID: String, _ answer: Answer) {
        self.app = app
        self.requestID = requestID
        self.answer = answer
    }

    public var locks: LedgerLocks { .parts([.work, .extensionRequest(app, requestID)]) }

    /// - Returns: the request with its answer; `nil` if it is not known.
    public func perform(_ transaction: LedgerTransaction) throws -> ExtensionRecord? {
        let app = try transaction.app(app)
        let table = ExtensionsTable(connection: transaction.connection)
        guard let row = try table.row(request: requestID, appKey: app.key) else { return nil }
        guard row.state == .open else { return try ExtensionRecord(row, transaction) }
        var details = ExtensionAnsweredDetails(requestID: requestID, state: ExtensionState.unanswered.rawValue)
        var state = ExtensionState.unanswered
        switch answer {
        case .extended(let until):
            (state, details.effectiveDate) = (.extended, until?.millisecondsSince1970)
        case .refused(let number): (state, details.number) = (.refused, number)
        case .unknown: break
        case .none(let next):
            let age = transaction.now.millisecondsSince1970 - row.requestedAt.millisecondsSince1970
            guard age >= ExtensionRow.lifetime else {
                let work = WorkTable(connection: transaction.connection)
                let attempts = try work.row(row.work)?.attempts ?? 0
                try work.note(row.work, progress: nil, attempts: attempts + 1, next: next, leasedUntil: nil)
                return try table.row(row.entryKey).map { row throws(LedgerStorageError) in
                    try ExtensionRecord(row, transaction)
                }
            }
        }
        details.state = state.rawValue
        try details.run(try transaction.append(transaction.draft(app), details))
        return try table.row(row.entryKey).map { row throws(LedgerStorageError) in
            try ExtensionRecord(row, transaction)
        }
    }
}

/// `extension_requested`.
struct ExtensionRequestedDetails: LedgerInput {
    static var kind: JournalKind { .extensionRequested }
    var requestID: String
    var environment: String
    var originalID: String
    var originalSecond: Int64?
    var days: Int64
    var extensionReason: String
    /// The operator's reason.
    var reason: String

    var original: OriginalKey {
        OriginalKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(originalID),
            second: originalSecond ?? 0)
    }

    /// - Returns: the request; `nil` if the subscription is not known, or the extension was requested before.
    @discardableResult
    func run(_ write: EntryWrite) throws -> ExtensionRow? {
        guard let original = try write.original(original) else {
            if !write.isOfEntriesAlone { try write.impossible("the subscription is not known") }
            return nil
        }
        let extensions = ExtensionsTable(connection: write.connection)
        guard try extensions.row(request: requestID, appKey: write.app.key) == nil else {
            try write.impossible("the extension was requested before")
            return nil
        }
        let row = ExtensionRow(
            entryKey: write.entry.key, appKey: write.app.key, originalKey: original.key, requestID: requestID,
            days: days, reason: ExtensionReasonCode(rawValue: extensionReason) ?? .undeclared,
            at: write.transaction.now)
        try extensions.insert(row)
        return row
    }
}

/// `extension_answered`: Apple's answer to a request for an extension.
struct ExtensionAnsweredDetails: LedgerInput {
    static var kind: JournalKind { .extensionAnswered }
    var requestID: String
    /// `ExtensionState`.
    var state: String
    /// The new end of the period, in milliseconds since 1970. Apple does not sign it, so it is no fact.
    var effectiveDate: Int64?
    /// Apple's number, if it refused.
    var number: Int64?

    func run(_ write: EntryWrite) throws {
        guard !write.isOfEntriesAlone else { return }
        let extensions = ExtensionsTable(connection: write.connection)
        guard let request = try extensions.row(request: requestID, appKey: write.app.key), request.state == .open,
            let state = ExtensionState(rawValue: state), state != .open
        else { return try write.impossible("there is no open request for an extension before it") }
        try extensions.finish(request, state, answer: write.entry.key)
    }
}
