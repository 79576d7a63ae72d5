public import PurchaseVerification

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

    public var locks: LedgerLocks { .parts([.requestLeases, .extensionRequest(app, requestID)]) }

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
                try table.postpone(row.entryKey, attempts: row.attempts + 1, to: next)
                return try table.row(row.entryKey).map { row throws(LedgerStorageError) in
                    try ExtensionRecord(row, transaction)
                }
            }
        }
        details.state = state.rawValue
        let entry = try transaction.journal.append(transaction.draft(app), details)
        try table.finish(row.entryKey, state, answer: entry.key)
        return try table.row(row.entryKey).map { row throws(LedgerStorageError) in
            try ExtensionRecord(row, transaction)
        }
    }
}
