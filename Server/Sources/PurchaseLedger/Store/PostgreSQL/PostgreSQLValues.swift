import CPostgreSQL

/// Values as libpq sends and returns them, all in PostgreSQL's binary formats.
struct PostgreSQLValues {
    /// The types of columns and parameters that the ledger uses (`pg_type.dat`).
    private enum TypeNumber {
        static let boolean: Oid = 16
        static let bytes: Oid = 17
        static let name: Oid = 19
        static let bigint: Oid = 20
        static let smallint: Oid = 21
        static let integer: Oid = 23
        static let text: Oid = 25
        static let bytesList: Oid = 1001
        static let textList: Oid = 1009
        static let bigintList: Oid = 1016
    }

    /// The type of each parameter; 0 leaves it to the server.
    let types: [Oid]
    private var bytes: [CChar] = []
    private var offsets: [Int?] = []
    private var lengths: [Int32] = []

    init(_ parameters: [PostgreSQLStatement.Parameter]) {
        types = parameters.map { parameter in
            switch parameter {
            case .value(let value): Self.type(value)
            case .list(let values): Self.listType(of: values.lazy.map(Self.type).first { $0 != 0 } ?? 0)
            }
        }
        bytes.reserveCapacity(512)
        for parameter in parameters {
            let start = bytes.count
            switch parameter {
            case .value(.null):
                offsets.append(nil)
                lengths.append(0)
                continue
            case .value(let value): append(value)
            case .list(let values): append(values)
            }
            offsets.append(start)
            lengths.append(Int32(bytes.count - start))
        }
        // An empty value also needs an address; without one it would be null.
        bytes.append(0)
    }

    private static func type(_ value: LedgerValue) -> Oid {
        switch value {
        case .null: 0
        case .integer: TypeNumber.bigint
        case .text: TypeNumber.text
        case .blob: TypeNumber.bytes
        }
    }

    private static func listType(of type: Oid) -> Oid {
        switch type {
        case TypeNumber.bigint: TypeNumber.bigintList
        case TypeNumber.bytes: TypeNumber.bytesList
        default: TypeNumber.textList
        }
    }

    private mutating func append(_ value: LedgerValue) {
        switch value {
        case .null: break
        case .integer(let number):
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0.bindMemory(to: CChar.self)) }
        case .text(let text):
            var text = text
            text.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) { bytes.append(contentsOf: $0) }
            }
        case .blob(let blob):
            blob.withUnsafeBytes { bytes.append(contentsOf: $0.bindMemory(to: CChar.self)) }
        }
    }

    /// A list in the binary format of arrays (`array_recv`): dimensions, whether there is a null, type, length, first
    /// index, and each value preceded by its length.
    private mutating func append(_ values: [LedgerValue]) {
        let type = values.lazy.map(Self.type).first { $0 != 0 } ?? TypeNumber.text
        append(Int32(1))
        append(Int32(values.contains(.null) ? 1 : 0))
        append(Int32(bitPattern: type))
        append(Int32(values.count))
        append(Int32(1))
        for value in values {
            guard value != .null else {
                append(Int32(-1))
                continue
            }
            let place = bytes.count
            append(Int32(0))
            append(value)
            let length = Int32(bytes.count - place - 4)
            withUnsafeBytes(of: length.bigEndian) { length in
                for (offset, byte) in length.enumerated() { bytes[place + offset] = CChar(bitPattern: byte) }
            }
        }
    }

    private mutating func append(_ number: Int32) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0.bindMemory(to: CChar.self)) }
    }

    /// Hands the values to one of libpq's functions.
    ///
    /// - Returns: whether it accepted them.
    func send(
        _ function: (
            Int32, UnsafePointer<Oid>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Int32
    ) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            let pointers = offsets.map { offset in offset.flatMap { offset in buffer.baseAddress.map { $0 + offset } } }
            let formats = [Int32](repeating: 1, count: offsets.count)
            return types.withUnsafeBufferPointer { types in
                pointers.withUnsafeBufferPointer { pointers in
                    lengths.withUnsafeBufferPointer { lengths in
                        formats.withUnsafeBufferPointer { formats in
                            function(
                                Int32(types.count), types.baseAddress, pointers.baseAddress, lengths.baseAddress,
                                formats.baseAddress) == 1
                        }
                    }
                }
            }
        }
    }

    /// A value of a result. Values of types that the ledger does not store become bytes, which the reader of the column
    /// reports.
    static func value(_ result: OpaquePointer, _ row: Int32, _ column: Int32) -> LedgerValue {
        guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else { return .null }
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
        switch PQftype(result, column) {
        case TypeNumber.bigint where bytes.count == 8:
            return .integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case TypeNumber.integer where bytes.count == 4:
            return .integer(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
        case TypeNumber.smallint where bytes.count == 2:
            return .integer(Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))))
        case TypeNumber.boolean where bytes.count == 1: return .integer(Int64(bytes[0]))
        case TypeNumber.text, TypeNumber.name: return .text(String(decoding: bytes, as: UTF8.self))
        default: return .blob(Array(bytes))
        }
    }
}

/// Translates the ledger's SQL into PostgreSQL's.
enum PostgreSQLText {
    /// Replaces `?1` by `$1`, and `x'00'` by a bytes literal. Quoted text is not changed.
    static func sql(_ portable: String) -> String {
        guard portable.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "'") }) else {
            return portable
        }
        var output: [UInt8] = []
        output.reserveCapacity(portable.utf8.count + 16)
        var isQuoted = false
        var isHexadecimal = false
        for byte in portable.utf8 {
            switch byte {
            case UInt8(ascii: "'"):
                if !isQuoted, output.last == UInt8(ascii: "x"), !Self.isWord(output.dropLast().last) {
                    output.removeLast()
                    output += Array("'\\x".utf8)
                    isHexadecimal = true
                } else {
                    output.append(byte)
                    if isQuoted, isHexadecimal {
                        output += Array("'::bytea".utf8.dropFirst())
                        isHexadecimal = false
                    }
                }
                isQuoted.toggle()
            case UInt8(ascii: "?") where !isQuoted: output.append(UInt8(ascii: "$"))
            default: output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func isWord(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// A statement in the form that a session sends. A parameter can be a list, which portable SQL does not have.
struct PostgreSQLStatement {
    /// Portable SQL.
    var sql: String
    var parameters: [Parameter]

    enum Parameter {
        case value(LedgerValue)
        /// Values of one type. They contain nulls only if another value shows the type.
        case list([LedgerValue])
    }

    init(_ sql: String, _ parameters: [Parameter]) {
        (self.sql, self.parameters) = (sql, parameters)
    }

    init(_ sql: String, _ values: [LedgerValue]) {
        (self.sql, parameters) = (sql, values.map(Parameter.value))
    }

    init(_ statement: LedgerStatement) { self.init(statement.sql, statement.parameters) }

    /// Lets a commit wait until the standby has all that the transaction could see, even if it changed nothing.
    ///
    /// A commit that waits for the standby is invisible, but it is seen after a crash, or once its wait was cancelled.
    /// A commit with a record of its own waits for everything before it.
    static var confirmation: PostgreSQLStatement {
        PostgreSQLStatement(
            """
            SELECT pg_logical_emit_message(true, 'assay', ''::text)::text
            WHERE current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery()
            """, [LedgerValue]())
    }
}
