import PurchaseVerification

import struct Foundation.UUID

/// A row of a query.
public struct LedgerRow: Sendable {
    /// The values, in the order of the query's columns.
    public let values: [LedgerValue]

    /// Creates a row.
    public init(values: [LedgerValue]) {
        self.values = values
    }

    /// A reader at the first column.
    var reader: RowReader { RowReader(values) }
}

/// A value of a column or a parameter.
public enum LedgerValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// Text as its bytes: names that are equal in Unicode can be two rows.
    var exact: LedgerValue { if case .text(let text) = self { .blob(Array(text.utf8)) } else { self } }

    /// Text, or null.
    static func text(_ text: String?) -> LedgerValue { text.map(LedgerValue.text) ?? .null }
    /// A number, or null.
    static func integer(_ number: Int64?) -> LedgerValue { number.map(LedgerValue.integer) ?? .null }
    /// Bytes, or null.
    static func blob(_ bytes: [UInt8]?) -> LedgerValue { bytes.map(LedgerValue.blob) ?? .null }
    /// Milliseconds since 1970, or null.
    static func time(_ time: Timestamp?) -> LedgerValue { .integer(time?.millisecondsSince1970) }
    /// 1 or 0.
    static func flag(_ flag: Bool) -> LedgerValue { .integer(flag ? 1 : 0) }
    /// The 16 bytes of a UUID, or null.
    static func id(_ id: UUID?) -> LedgerValue { .blob(id?.bytes) }

    /// The parameters of a list of values in a statement without others: `?1, ?2, ?3`.
    static func places(_ count: Int) -> String { (0..<count).map { "?\($0 + 1)" }.joined(separator: ", ") }
}

extension LedgerConnection {
    /// The numbers in the first column of a query.
    func integers(
        _ sql: String, _ parameters: [LedgerValue], of scope: ReadScope? = nil
    ) throws(LedgerStorageError) -> [Int64] {
        var numbers: [Int64] = []
        for row in try rows(sql, parameters, of: scope) {
            var reader = row.reader
            numbers.append(try reader.integer())
        }
        return numbers
    }

    func integers(_ shape: ReadShape, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [Int64] {
        try integers(shape.sql, parameters, of: shape.scope)
    }
}

/// Reads the values of a row from left to right. A value of another type than expected means that the database is
/// corrupt.
struct RowReader {
    private let values: [LedgerValue]
    private var position = 0

    init(_ values: [LedgerValue]) {
        self.values = values
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
        guard let number = try optionalInteger() else { throw mismatch("an integer") }
        return number
    }

    mutating func optionalInteger() throws(LedgerStorageError) -> Int64? {
        switch try value() {
        case .integer(let number): return number
        case .null: return nil
        default: throw mismatch("an integer")
        }
    }

    mutating func flag() throws(LedgerStorageError) -> Bool { try integer() != 0 }

    mutating func blob() throws(LedgerStorageError) -> [UInt8] {
        guard let bytes = try optionalBlob() else { throw mismatch("bytes") }
        return bytes
    }

    mutating func optionalBlob() throws(LedgerStorageError) -> [UInt8]? {
        switch try value() {
        case .blob(let bytes): return bytes
        case .null: return nil
        default: throw mismatch("bytes")
        }
    }

    /// Bytes; `nil` for a value of any other type. For readers that report a wrong value themselves and continue with
    /// the next row.
    mutating func blobIfAny() throws(LedgerStorageError) -> [UInt8]? {
        guard case .blob(let bytes) = try value() else { return nil }
        return bytes
    }

    mutating func time() throws(LedgerStorageError) -> Timestamp {
        Timestamp(millisecondsSince1970: try integer())
    }

    mutating func optionalTime() throws(LedgerStorageError) -> Timestamp? {
        try optionalInteger().map { Timestamp(millisecondsSince1970: $0) }
    }

    mutating func id() throws(LedgerStorageError) -> UUID {
        guard let id = try optionalID() else { throw mismatch("16 bytes") }
        return id
    }

    mutating func optionalID() throws(LedgerStorageError) -> UUID? {
        guard let bytes = try optionalBlob() else { return nil }
        guard let id = UUID(bytes: bytes) else { throw mismatch("16 bytes") }
        return id
    }

    /// The value of an enumeration that is stored as text.
    mutating func named<Name: RawRepresentable>(
        _: Name.Type
    ) throws(LedgerStorageError) -> Name where Name.RawValue == String {
        guard let name = Name(rawValue: try text()) else { throw mismatch("a \(Name.self)") }
        return name
    }

    /// The value of an enumeration that is stored as text, or `nil` for null.
    mutating func optionalNamed<Name: RawRepresentable>(
        _: Name.Type
    ) throws(LedgerStorageError) -> Name? where Name.RawValue == String {
        guard let text = try optionalText() else { return nil }
        guard let name = Name(rawValue: text) else { throw mismatch("a \(Name.self)") }
        return name
    }

    func mismatch(_ expected: String) -> LedgerStorageError {
        LedgerStorageError(.corrupt, "column \(position) of a row is not \(expected)")
    }
}
