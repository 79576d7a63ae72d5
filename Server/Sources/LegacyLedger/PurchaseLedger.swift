public import PurchaseVerification

import struct Foundation.UUID

/// The books: what was ordered, proven, granted and used up, and everything that was submitted.
///
/// Every answer is given after its commit is durable. Each call is a whole transaction.
public struct PurchaseLedger: Sendable {
    private let database: any LedgerDatabase
    private let examiner: SubmissionExaminer
    private let clock: @Sendable () -> Timestamp

    /// A ledger in a database whose schema is up to date (`LedgerMigrations`).
    ///
    /// - Parameters:
    ///   - database: where it lives.
    ///   - verifier: whom it trusts.
    ///   - clock: the time of each decision.
    public init(
        database: any LedgerDatabase, verifier: PurchaseVerifier, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.database = database
        examiner = SubmissionExaminer(verifier: verifier)
        self.clock = clock
    }

    /// Reads from one committed state.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (LedgerReader) throws -> Value) async throws -> Value
    {
        let clock = clock
        return try await database.read { try body(LedgerReader(connection: $0, now: clock())) }
    }

    /// Writes: all that the body does, or nothing if it throws. It may run a second time if somebody else was faster.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (LedgerTransaction) throws -> Value
    ) async throws -> Value {
        let clock = clock
        do {
            return try await database.write { try body(LedgerTransaction(connection: $0, now: clock())) }
        } catch let error as LedgerStorageError where error.kind == .constraint {
            // The driver lets one write happen at a time, so this cannot be a race there; where it is one, the second look
            // finds what the winner wrote.
            return try await database.write { try body(LedgerTransaction(connection: $0, now: clock())) }
        }
    }

    /// Verifies a submission. It takes the time that cryptography takes, and no lock.
    public func examine(_ submission: PurchaseSubmission) -> ExaminedSubmission {
        examiner.examine(submission)
    }

    /// Verifies, decides, records and answers.
    public func submit(_ submission: PurchaseSubmission) async throws -> PurchaseOutcome {
        let examined = examine(submission)
        return try await write { try $0.record(examined) }
    }

    /// Writes something of the size of a submission, to find out whether the database takes it.
    ///
    /// It is written anew before what the last probe wrote is removed. So it needs room as a submission does, and cannot live
    /// on its own old place while there is no other left.
    ///
    /// - Throws: `LedgerStorageError` with the reason why it does not.
    public func requireWritable() async throws {
        let content = [UInt8](repeating: UInt8(truncatingIfNeeded: clock().millisecondsSince1970), count: 64 << 10)
        try await database.write { connection in
            let name = LedgerValue.text(UUID().uuidString)
            try connection.execute("INSERT INTO readiness (name, content) VALUES (?1, ?2)", [name, .blob(content)])
            try connection.execute("DELETE FROM readiness WHERE name <> ?1", [name])
        }
    }

    /// Answers what waits, and closes the database.
    public func close() async throws {
        try await database.close()
    }
}

/// What can be asked within one committed state.
public struct LedgerReader {
    let connection: any LedgerConnection
    /// The time for which states are told.
    public let now: Timestamp
}

/// What can be done within one transaction. Everything that may be refused is refused before anything is written.
public struct LedgerTransaction {
    let connection: any LedgerConnection
    /// The time of what is done.
    public let now: Timestamp

    /// Looks at what is there, with what this transaction wrote.
    public var reader: LedgerReader { LedgerReader(connection: connection, now: now) }

    func record(_ event: LedgerEvent) throws(LedgerStorageError) {
        try LedgerEvent.chain.append(event.values, connection)
    }
}

/// Why something other than a purchase was refused. Nothing of what was asked for was written.
public struct LedgerRefusal: Error, Sendable, Equatable {
    /// The stable code.
    public let code: Code
    /// What was asked for.
    public let expected: String?
    /// What was found instead.
    public let found: String?
    /// Under which id the submission is in the record, if one was refused.
    public internal(set) var submissionID: String?

    /// There is no order of this id.
    public static func orderUnknown(_ id: String) -> LedgerRefusal { LedgerRefusal(.orderUnknown, expected: id) }

    init(_ code: Code, expected: String? = nil, found: String? = nil) {
        self.code = code
        self.expected = expected
        self.found = found
    }

    /// What orders, balances and repeated requests are refused for.
    public enum Code: String, Sendable, CaseIterable {
        case orderUnknown = "order_unknown"
        case orderNotPaid = "order_not_paid"
        case orderNotCancellable = "order_not_cancellable"
        case productUnknown = "product_unknown"
        case balanceInsufficient = "balance_insufficient"
        case consumptionConflict = "consumption_conflict"
        case idempotencyKeyReused = "idempotency_key_reused"

        /// The HTTP status of the answer.
        public var status: Int {
            switch self {
            case .orderUnknown: 404
            case .orderNotPaid, .orderNotCancellable, .balanceInsufficient: 409
            case .productUnknown, .idempotencyKeyReused, .consumptionConflict: 422
            }
        }

        /// The sentence for people.
        public var sentence: String {
            switch self {
            case .orderUnknown: "There is no such order."
            case .orderNotPaid: "Only an order that is paid can be fulfilled."
            case .orderNotCancellable: "Only an order that waits for its payment can be cancelled."
            case .productUnknown: "The product is not one that is registered for the app."
            case .balanceInsufficient: "The balance is smaller than what should be taken from it."
            case .consumptionConflict: "The same consumption was made before, with other values."
            case .idempotencyKeyReused: "The idempotency key was used before, for another request."
            }
        }
    }
}
