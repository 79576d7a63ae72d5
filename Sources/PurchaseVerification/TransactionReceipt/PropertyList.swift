/// A property list in the old style of NeXT, as transaction receipts are written in: one flat dictionary of quoted
/// strings.
///
///     { "key" = "value"; "key" = "value"; }
///
/// The reader accepts exactly this form, with keys of plain ASCII, each once. Nested lists, data, unquoted strings,
/// comments, escapes in a key and anything after the closing brace are refused: no receipt has them, and each would be
/// one more way to write an ambiguous list.
struct PropertyList: Sendable {
    let bytes: [UInt8]
    let entries: [Entry]

    /// One entry: the positions of the characters between the quotes.
    struct Entry: Sendable {
        let key: Range<Int>
        let value: Range<Int>
    }

    /// - Throws: `property_list_malformed`, `property_list_key_duplicated`, `property_list_too_large`.
    init(_ bytes: [UInt8]) throws(VerificationError) {
        self.bytes = bytes
        var reader = PropertyListReader()
        let slice = bytes[...]
        entries = try reader.entries(slice.span)
    }

    /// The characters of a key's value between the quotes, unchanged; `nil` if the key is absent.
    func value(_ key: StaticString) -> Range<Int>? {
        let characters = bytes[...]
        let list = entries[...]
        return key.withUTF8Buffer { (key: UnsafeBufferPointer<UInt8>) in
            Self.value(key.span, list.span, characters.span)
        }
    }

    private static func value(
        _ key: Span<UInt8>, _ entries: Span<Entry>, _ characters: Span<UInt8>
    ) -> Range<Int>? {
        for index in 0..<entries.count {
            let entry = entries[index]
            if entry.key.count == key.count, characters.isEqual(entry.key, key) { return entry.value }
        }
        return nil
    }

    /// Whether the value has exactly these characters.
    func holds(_ name: StaticString, at range: Range<Int>) -> Bool {
        let characters = bytes[...]
        return name.withUTF8Buffer { (name: UnsafeBufferPointer<UInt8>) in characters.span.isEqual(range, name.span) }
    }

    /// Whether the characters have an escape among them.
    private func hasEscape(_ range: Range<Int>) -> Bool {
        let characters = bytes[range]
        return characters.span.offset(of: UInt8(ascii: "\\"), from: 0) != nil
    }

    /// The text of a value, with its escapes decoded.
    func text(_ range: Range<Int>) -> String {
        let raw = bytes[range]
        guard hasEscape(range) else { return String(decoding: raw, as: UTF8.self) }
        return PropertyListEscape.unescaped(raw)
    }

    /// The text of a key's value.
    func text(_ key: StaticString) -> String? { value(key).map(text) }
}

/// Walks over the characters of a list, each at most once.
private struct PropertyListReader {
    private var position = 0

    mutating func entries(_ bytes: Span<UInt8>) throws(VerificationError) -> [PropertyList.Entry] {
        var entries: [PropertyList.Entry] = []
        entries.reserveCapacity(26)
        // A one-word Bloom filter; keys are compared only on a hit.
        var seen: UInt64 = 0
        try expect(UInt8(ascii: "{"), bytes)
        while true {
            skipWhiteSpace(bytes)
            if position < bytes.count, bytes[position] == UInt8(ascii: "}") { break }
            guard entries.count < VerificationBudget.propertyListEntries else {
                throw VerificationError(
                    .propertyListMalformed, expected: "at most \(VerificationBudget.propertyListEntries) keys",
                    found: "more")
            }
            let key = try key(bytes)
            try expect(UInt8(ascii: "="), bytes)
            skipWhiteSpace(bytes)
            let value = try quoted(bytes)
            try expect(UInt8(ascii: ";"), bytes)
            let mark = Self.mark(of: key, bytes)
            if seen & mark != 0 {
                for entry in entries where bytes.isEqual(entry.key, key) {
                    throw VerificationError(
                        .propertyListKeyDuplicated, found: String(decoding: bytes.shown(key), as: UTF8.self))
                }
            }
            seen |= mark
            entries.append(PropertyList.Entry(key: key, value: value))
        }
        position += 1
        guard position == bytes.count else {
            throw VerificationError(.trailingBytes, expected: "the end", found: "\(bytes.count - position) more bytes")
        }
        return entries
    }

    /// The same bit for the same key.
    private static func mark(of key: Range<Int>, _ bytes: Span<UInt8>) -> UInt64 {
        let first = key.isEmpty ? 0 : Int(bytes[key.lowerBound])
        return 1 << UInt64((first &+ key.count &* 5) & 63)
    }

    @inline(__always)
    private mutating func skipWhiteSpace(_ bytes: Span<UInt8>) {
        while position < bytes.count, bytes[position] == 0x20 || (0x09...0x0D).contains(bytes[position]) {
            position += 1
        }
    }

    @inline(__always)
    private mutating func expect(_ character: UInt8, _ bytes: Span<UInt8>) throws(VerificationError) {
        skipWhiteSpace(bytes)
        guard position < bytes.count, bytes[position] == character else {
            throw unexpected(bytes, expected: character)
        }
        position += 1
    }

    /// The characters of a key between its quotes.
    private mutating func key(_ bytes: Span<UInt8>) throws(VerificationError) -> Range<Int> {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw malformed(bytes, expected: "a quoted string")
        }
        let start = position + 1
        position = bytes.endOfPlainText(from: start)
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw malformed(bytes, expected: "a key of ASCII characters without escapes")
        }
        let range = start..<position
        guard range.count <= VerificationBudget.propertyListKeyBytes else {
            throw VerificationError(
                .propertyListMalformed, expected: "keys of at most \(VerificationBudget.propertyListKeyBytes) bytes",
                found: "\(range.count)")
        }
        position += 1
        return range
    }

    /// The characters of a value between its quotes.
    private mutating func quoted(_ bytes: Span<UInt8>) throws(VerificationError) -> Range<Int> {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
            throw malformed(bytes, expected: "a quoted string")
        }
        position += 1
        let start = position
        var hasOthers = false
        while true {
            position = bytes.endOfPlainText(from: position)
            guard position < bytes.count else { break }
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                let range = start..<position
                position += 1
                // Almost every string is ASCII; only other strings can be invalid UTF-8.
                if hasOthers, !bytes.extracting(range).isUTF8 {
                    throw VerificationError(.propertyListMalformed, expected: "UTF-8 text")
                }
                return range
            }
            if byte == UInt8(ascii: "\\") {
                guard let length = PropertyListEscape.length(bytes, position) else {
                    throw malformed(bytes, expected: "an escape that property lists have")
                }
                position += length
            } else if byte >= 0x80 {
                hasOthers = true
                position += 1
            } else {
                throw malformed(bytes, expected: "text without control characters")
            }
        }
        throw malformed(bytes, expected: "a closing quote")
    }

    @inline(never)
    private func unexpected(_ bytes: Span<UInt8>, expected character: UInt8) -> VerificationError {
        malformed(bytes, expected: "'\(Character(UnicodeScalar(character)))'")
    }

    @inline(never)
    private func malformed(_ bytes: Span<UInt8>, expected: String) -> VerificationError {
        guard position < bytes.count else {
            return VerificationError(.propertyListMalformed, expected: expected, found: "the end")
        }
        return VerificationError(
            .propertyListMalformed, expected: "\(expected) at offset \(position)",
            found: "the byte \(hexadecimal([bytes[position]]))")
    }
}

/// The escapes of quoted strings: `\"`, `\\`, `\n`, `\r`, `\t` and `\Uxxxx`.
private enum PropertyListEscape {
    /// The length of the escape that begins with the backslash there; `nil` if it is not an escape.
    static func length(_ bytes: Span<UInt8>, _ position: Int) -> Int? {
        guard position + 1 < bytes.count else { return nil }
        switch bytes[position + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return 2
        case UInt8(ascii: "U"):
            guard position + 5 < bytes.count else { return nil }
            for offset in 2...5 where Self.digit(bytes[position + offset]) == nil { return nil }
            return 6
        default: return nil
        }
    }

    static func unescaped(_ raw: ArraySlice<UInt8>) -> String {
        var units: [UInt16] = []
        var plain: [UInt8] = []
        var position = raw.startIndex
        func flush() {
            units += Array(String(decoding: plain, as: UTF8.self).utf16)
            plain.removeAll()
        }
        while position < raw.endIndex {
            guard raw[position] == UInt8(ascii: "\\"), position + 1 < raw.endIndex else {
                plain.append(raw[position])
                position += 1
                continue
            }
            let escape = raw[position + 1]
            if escape == UInt8(ascii: "U") {
                flush()
                units.append(raw[(position + 2)...].prefix(4).reduce(0) { $0 << 4 | UInt16(digit($1) ?? 0) })
                position += 6
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "t"): plain.append(0x09)
            default: plain.append(escape)
            }
            position += 2
        }
        flush()
        return String(decoding: units, as: UTF16.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
