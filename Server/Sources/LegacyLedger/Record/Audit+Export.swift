import Crypto

extension Audit {
    /// The hash of one row of a chain; `nil` if there is no such row or table.
    public func hash(_ table: String, at sequence: Int64) async throws -> String? {
        guard let chain = [SubmissionRecord.chain, LedgerEvent.chain].first(where: { $0.name == table }) else {
            return nil
        }
        return try await database.read { connection in
            let rows = try connection.rows("SELECT hash FROM \(chain.name) WHERE sequence = ?1", [.integer(sequence)])
            guard let row = rows.first else { return nil }
            var reader = RowReader(row)
            return try reader.text()
        }
    }

    /// A piece of evidence as it was sent; `nil` if there is none of this name.
    ///
    /// - Parameter sha256: its SHA-256, in hexadecimal digits.
    /// - Throws: `database_corrupt` if it is not what was sent.
    public func evidence(_ sha256: String) async throws -> [UInt8]? {
        try await database.read { connection in
            guard let bytes = try StoredEvidence.bytes(sha256, connection) else { return nil }
            guard hexadecimal(SHA256.hash(data: bytes)) == sha256 else {
                throw LedgerStorageError(.corrupt, "evidence \(sha256) is not what was sent")
            }
            return bytes
        }
    }

    /// Hands out every row of the record as one JSON object, submissions first and then events, each in its order.
    ///
    /// - Parameter line: takes a line without its end.
    public func export(_ line: @escaping @Sendable (String) throws -> Void) async throws {
        let pageSize = pageSize
        try await database.read { connection in
            for chain in [SubmissionRecord.chain, LedgerEvent.chain] {
                var sequence = Int64.min
                var behindLast: Int64 = 0
                while true {
                    let rows = try Self.page(chain, connection, after: sequence, skipping: behindLast, pageSize)
                    for row in rows {
                        try line(Self.json(row, chain))
                        if case .integer(let number)? = row.values.first {
                            sequence = number
                            behindLast = 0
                        } else {
                            behindLast += 1
                        }
                    }
                    if rows.count < pageSize { break }
                }
            }
        }
    }

    private static func json(_ row: LedgerRow, _ chain: HashChain) -> String {
        let names = ["sequence"] + chain.columns.map(\.name) + ["hash"]
        let members = zip(names, row.values).map { "\(quoted($0)):\(json($1))" }
        return "{\(quoted("table")):\(quoted(chain.name)),\(members.joined(separator: ","))}"
    }

    private static func json(_ value: LedgerValue) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): "\(number)"
        case .text(let text): quoted(text)
        case .blob(let bytes): quoted(hexadecimal(bytes))
        }
    }

    /// A JSON string (RFC 8259, 7).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
