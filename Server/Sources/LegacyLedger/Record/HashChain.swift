import Crypto

/// A table whose rows form a chain: each row's hash covers all its columns and the hash of the row before, so that no row can
/// be changed, removed or moved without breaking the chain behind it. Count and hash of the last row stand in `chain_heads`, so
/// that rows missing at the end are noticed, too.
///
/// Who can write to the database can compute a whole new chain. Only a head hash that is kept elsewhere shows that.
struct HashChain: Sendable {
    /// The table.
    let name: String
    /// Its columns, without the sequence number before and the hash behind them.
    let columns: [Column]

    struct Column: Sendable {
        let name: String
        /// The portable type, and `NOT NULL` where it applies.
        let type: String
    }

    /// The hash before the first row.
    var origin: String { hexadecimal(SHA256.hash(data: Array("assay \(name)".utf8))) }

    /// Adds a row.
    ///
    /// - Parameter values: those of the columns, in their order.
    /// - Returns: its sequence number, from 1.
    @discardableResult
    func append(_ values: [LedgerValue], _ connection: any LedgerConnection) throws(LedgerStorageError) -> Int64 {
        let head = try head(connection)
        let (sequence, overflow) = head.count.addingReportingOverflow(1)
        guard !overflow else {
            throw LedgerStorageError(.corrupt, "the head of \(name) has a number that nobody counted to")
        }
        let hash = hash(previous: head.hash, sequence: sequence, values)
        let names = columns.map(\.name).joined(separator: ", ")
        let placeholders = (1...columns.count + 2).map { "?\($0)" }.joined(separator: ", ")
        try connection.execute(
            "INSERT INTO \(name) (sequence, \(names), hash) VALUES (\(placeholders))",
            [.integer(sequence)] + values + [.text(hash)])
        try connection.execute(
            "UPDATE chain_heads SET count = ?1, hash = ?2 WHERE name = ?3",
            [.integer(sequence), .text(hash), .text(name)])
        return sequence
    }

    /// How many rows there are, and the hash of the last.
    func head(_ connection: any LedgerConnection) throws(LedgerStorageError) -> ChainHead {
        guard let row = try connection.rows("SELECT count, hash FROM chain_heads WHERE name = ?1", [.text(name)]).first
        else { throw LedgerStorageError(.corrupt, "the chain \(name) has no head") }
        var reader = RowReader(row)
        return ChainHead(count: try reader.integer(), hash: try reader.text())
    }

    /// SHA-256 over the hash of the row before, the sequence number and each value: one byte for its type, and for text and
    /// bytes their length in eight bytes, so that no two rows have the same encoding.
    func hash(previous: String, sequence: Int64, _ values: [LedgerValue]) -> String {
        hexadecimal(SHA256.hash(data: Self.encoding([.text(previous), .integer(sequence)] + values)))
    }

    /// Values as bytes, so that no two lists of them have the same.
    static func encoding(_ values: [LedgerValue]) -> [UInt8] {
        var encoding: [UInt8] = []
        encoding.reserveCapacity(
            values.reduce(0) { size, value in
                switch value {
                case .null: size + 1
                case .integer: size + 9
                case .text(let text): size + 9 + text.utf8.count
                case .blob(let blob): size + 9 + blob.count
                }
            })
        for value in values { append(value, to: &encoding) }
        return encoding
    }

    private static func append(_ value: LedgerValue, to encoding: inout [UInt8]) {
        switch value {
        case .null: encoding.append(0)
        case .integer(let number):
            encoding.append(1)
            append(number, to: &encoding)
        case .text(let text):
            encoding.append(2)
            append(Int64(text.utf8.count), to: &encoding)
            encoding.append(contentsOf: text.utf8)
        case .blob(let blob):
            encoding.append(3)
            append(Int64(blob.count), to: &encoding)
            encoding.append(contentsOf: blob)
        }
    }

    /// Eight bytes, the most significant first.
    private static func append(_ number: Int64, to encoding: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { encoding.append(contentsOf: $0) }
    }
}

/// The end of a chain: keep its hash elsewhere, and nobody can rewrite what came before unnoticed.
public struct ChainHead: Sendable, Equatable {
    /// How many rows the chain has.
    public let count: Int64
    /// The hash of the last, in hexadecimal.
    public let hash: String
}

/// Bytes as hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10 }
    var text: [UInt8] = []
    text.reserveCapacity(64)
    for byte in bytes {
        text.append(digit(byte >> 4))
        text.append(digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
}
