/// A database that the ledger can live in. The ledger speaks portable SQL through it; everything that differs between engines
/// is behind it.
///
/// What a driver promises:
/// - One write at a time, of all servers that share the database. So what a write reads stays true until it is committed.
/// - A write is a whole: all of it, or nothing. `write` returns only after the commit is durable.
/// - Writes that wait share one commit. If one of them fails, only that one is undone.
/// - Reads see one committed state, run beside each other, and never wait for a write.
///
/// In SQL, parameters are `?1`, `?2`…, in the order of the array; types are `BIGINT`, `TEXT` and `BLOB`.
public protocol LedgerDatabase: Sendable {
    /// How the engine writes what is not portable.
    var dialect: any LedgerDialect { get }

    /// Reads from one committed state.
    ///
    /// - Throws: `LedgerStorageError`, or what the body throws.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value

    /// Writes: all that the body does, or nothing.
    ///
    /// - Throws: `LedgerStorageError`, or what the body throws, which undoes what it did.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value

    /// Answers every write that waits, and closes the database. Later calls fail with `closed`.
    func close() async throws
}

/// What a body may do with the database, within its transaction.
public protocol LedgerConnection {
    /// Executes one statement.
    ///
    /// - Returns: how many rows it inserted, changed or removed.
    @discardableResult
    func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int

    /// The rows of one query, in its order.
    func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow]
}

/// What cannot be said in portable SQL.
public protocol LedgerDialect: Sendable {
    /// The engine's form of a statement that makes a table or an index with the types `BIGINT`, `TEXT` and `BLOB`.
    func definition(_ sql: String) -> String

    /// Statements after which the rows of a table can be neither changed nor removed.
    func appendOnly(table: String) -> [String]

    /// Statements after which a row can come only behind the last one, whose number `chain_heads` has, where the engine has
    /// another way to replace a row than to change or remove it.
    ///
    /// - Parameter unique: another column whose values never come twice.
    func appendOnlyInOrder(table: String, unique: String?) -> [String]

    /// Statements after which a row whose key is there already is left out, for the same reason.
    func writeOnce(table: String, key: String) -> [String]
}

/// A value of a column or a parameter.
public enum LedgerValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// Text, or null.
    static func text(_ text: String?) -> LedgerValue { text.map(LedgerValue.text) ?? .null }
    /// A number, or null.
    static func integer(_ number: Int64?) -> LedgerValue { number.map(LedgerValue.integer) ?? .null }
}

/// A row of a query.
public struct LedgerRow: Sendable {
    /// The values in the order of the query's columns.
    public let values: [LedgerValue]

    /// A row of these values.
    public init(values: [LedgerValue]) {
        self.values = values
    }
}

/// Reads the values of a row from left to right.
struct RowReader {
    private let values: [LedgerValue]
    private var position = 0

    init(_ row: LedgerRow) {
        values = row.values
    }

    mutating func value() throws(LedgerStorageError) -> LedgerValue {
        guard position < values.count else { throw mismatch("one more column") }
        position += 1
        return values[position - 1]
    }

    mutating func text() throws(LedgerStorageError) -> String {
        guard let text = try optionalText() else { throw mismatch("text") }
        return text
    }

    mutating func optionalText() throws(LedgerStorageError) -> String? {
        switch try value() {
        case .text(let text): return text
        case .null: return nil
        default: throw mismatch("text")
        }
    }

    mutating func integer() throws(LedgerStorageError) -> Int64 {
        guard let number = try optionalInteger() else { throw mismatch("a number") }
        return number
    }

    mutating func optionalInteger() throws(LedgerStorageError) -> Int64? {
        switch try value() {
        case .integer(let number): return number
        case .null: return nil
        default: throw mismatch("a number")
        }
    }

    mutating func blob() throws(LedgerStorageError) -> [UInt8] {
        guard case .blob(let bytes) = try value() else { throw mismatch("bytes") }
        return bytes
    }

    /// A raw value of an enumeration.
    mutating func named<Name: RawRepresentable>(
        _: Name.Type
    ) throws(LedgerStorageError) -> Name where Name.RawValue == String {
        guard let name = Name(rawValue: try text()) else { throw mismatch("a \(Name.self)") }
        return name
    }

    private func mismatch(_ expected: String) -> LedgerStorageError {
        LedgerStorageError(.corrupt, "column \(position) of a row is not \(expected)")
    }
}
