import CPostgreSQL

extension LedgerStorageError {
    /// The error of a statement, by its SQLSTATE (PostgreSQL, Appendix A, "PostgreSQL Error Codes").
    init(postgreSQL result: OpaquePointer) {
        let state = Self.field(result, "C") ?? "?????"
        let message = Self.field(result, "M") ?? "no message"
        let detail = Self.field(result, "D").map { " (\($0))" } ?? ""
        self.init(Self.kind(state), "\(state): \(message)\(detail)")
    }

    /// Whether a row with the same unique key exists. If another transaction has just inserted it, the next attempt
    /// finds it.
    var isDuplicate: Bool { kind == .constraint && detail.hasPrefix("23505") }

    /// The kind of an SQLSTATE.
    private static func kind(_ state: String) -> Kind {
        switch state {
        // serialization_failure, deadlock_detected
        case "40001", "40P01": .conflict
        // lock_not_available, query_canceled by a time limit, object_in_use
        case "55P03", "57014", "55006": .busy
        // disk_full
        case "53100": .full
        // insufficient_resources, out_of_memory, too_many_connections
        case "53000", "53200", "53300": .unavailable
        // read_only_sql_transaction
        case "25006": .readOnly
        // raise_exception: the triggers of append-only tables
        case "P0001": .constraint
        default:
            switch state.prefix(2) {
            case "23": .constraint
            // connection exceptions, refused logins, shutdowns, idle time limits, system errors
            case "08", "28", "57", "25", "58": .unavailable
            case "XX": .corrupt
            default: .other
            }
        }
    }

    /// A field of an error, identified by its letter (PostgreSQL, "Error and Notice Message Fields"), which Swift
    /// cannot import by name.
    private static func field(_ result: OpaquePointer, _ letter: Unicode.Scalar) -> String? {
        PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
    }
}
