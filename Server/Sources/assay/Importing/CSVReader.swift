/// Reads CSV (RFC 4180) record by record: quoted fields with commas, line ends and doubled quotes; lines that end in LF
/// or CRLF.
///
/// After a damaged record, reading continues with the next line.
struct CSVReader {
    private(set) var bytes: InputBytes
    /// The number of fields of a record; reading a record stops beyond it, because a row of commas alone would take a
    /// hundred times its size. Before the header was read, more fields than there are columns.
    var largestFieldCount = 2 * ImportColumn.allCases.count

    /// A record, or the error in it, and its first line.
    struct Record {
        let line: Int
        let fields: Result<[[UInt8]], ImportFlaw>
    }

    /// Reads from the bytes that were not taken.
    init(_ bytes: InputBytes) { self.bytes = bytes }

    /// The next record that is not a blank line.
    ///
    /// - Throws: `InputError`.
    mutating func next() throws -> Record? {
        while true {
            guard bytes.count > 0 || !bytes.isAtEnd else { return nil }
            let line = bytes.line
            switch parse() {
            case .record(let fields, let end):
                let isTooLarge = end - bytes.start > ImportRow.limit
                let isBlank = fields.count == 1 && fields[0].isEmpty
                bytes.take(upTo: end)
                if isTooLarge { return Record(line: line, fields: .failure(Self.tooLarge)) }
                if !isBlank { return Record(line: line, fields: .success(fields)) }
            case .malformed(let flaw):
                try bytes.skipLine()
                return Record(line: line, fields: .failure(flaw))
            case .incomplete:
                guard bytes.count > ImportRow.limit else {
                    try bytes.fill()
                    continue
                }
                try bytes.skipLine()
                return Record(line: line, fields: .failure(Self.tooLarge))
            }
        }
    }

    private static let tooLarge = ImportFlaw(
        .rowTooLarge, "a row takes more than \(ImportRow.limit) bytes; is a quote not closed?")

    private enum Parsed {
        case record([[UInt8]], end: Int)
        /// The end of the record was not read yet.
        case incomplete
        case malformed(ImportFlaw)
    }

    /// The record at the start of the bytes.
    private func parse() -> Parsed {
        let all = bytes.bytes
        var position = bytes.start
        var fields: [[UInt8]] = []
        while true {
            guard fields.count < largestFieldCount else {
                return .malformed(
                    ImportFlaw(
                        .rowMalformed, "the row has more than \(largestFieldCount) fields, as many as the header"))
            }
            if position < all.count, all[position] == Self.quote {
                guard let (field, end) = quotedField(from: position + 1) else {
                    return bytes.isAtEnd
                        ? .malformed(ImportFlaw(.rowMalformed, "a quoted field is not closed")) : .incomplete
                }
                fields.append(field)
                position = end
            } else {
                var end = position
                while end < all.count, all[end] != Self.comma, all[end] != Self.lineFeed {
                    guard all[end] != Self.quote else {
                        return .malformed(
                            ImportFlaw(
                                .rowMalformed,
                                "a quote in a field that does not begin with one; quote the field and double its quotes"
                            ))
                    }
                    end += 1
                }
                guard end < all.count || bytes.isAtEnd else { return .incomplete }
                let endsLine = end == all.count || all[end] == Self.lineFeed
                let hasReturn = endsLine && end > position && all[end - 1] == Self.carriageReturn
                fields.append(Array(all[position..<(hasReturn ? end - 1 : end)]))
                position = end
            }
            if position < all.count, all[position] == Self.carriageReturn {
                guard position + 1 < all.count || bytes.isAtEnd else { return .incomplete }
                position += 1
                guard position == all.count || all[position] == Self.lineFeed else {
                    return .malformed(Self.unexpected)
                }
            }
            guard position < all.count else {
                return bytes.isAtEnd ? .record(fields, end: position) : .incomplete
            }
            switch all[position] {
            case Self.comma: position += 1
            case Self.lineFeed: return .record(fields, end: position + 1)
            default: return .malformed(Self.unexpected)
            }
        }
    }

    private static let unexpected = ImportFlaw(
        .rowMalformed, "text after a closing quote; a quote in a quoted field is doubled")

    /// A field after its opening quote, and the position after the closing one; `nil` if that was not read.
    private func quotedField(from start: Int) -> (field: [UInt8], end: Int)? {
        let all = bytes.bytes
        var field: [UInt8] = []
        var position = start
        while let end = bytes.position(of: Self.quote, from: position) {
            field += all[position..<end]
            guard end + 1 < all.count else { return bytes.isAtEnd ? (field, end + 1) : nil }
            guard all[end + 1] == Self.quote else { return (field, end + 1) }
            field.append(Self.quote)
            position = end + 2
        }
        return nil
    }

    private static let quote = UInt8(ascii: "\"")
    private static let comma = UInt8(ascii: ",")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
}
