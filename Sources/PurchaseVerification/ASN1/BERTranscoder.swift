/// Rewrites BER as DER in the two points in which Xcode's receipts differ from Apple's: indefinite lengths, and octet
/// strings in pieces (X.690, 8.1.3.6 and 8.7.3). Every other BER form that is not DER is refused.
///
/// Elements that use neither are copied as they are, so certificates keep their bytes and their signatures.
enum BERTranscoder {
    static let indefiniteLength = VerificationError(
        .asn1Malformed, expected: "definite lengths", found: "an indefinite length")
    static let constructedString = VerificationError(
        .asn1Malformed, expected: "octet strings in one piece", found: "one in several")

    /// Rewrites the value with definite lengths. The bytes after it are not read and count as trailing.
    static func definite(_ bytes: [UInt8]) throws(VerificationError) -> [UInt8] {
        let slice = bytes[...]
        let span = slice.span
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var position = 0
        try element(span, &position, end: bytes.count, depth: 0, into: &output)
        guard position == bytes.count else {
            throw VerificationError(
                .trailingBytes, expected: "the end", found: "\(bytes.count - position) more bytes")
        }
        return output
    }

    private static func element(
        _ bytes: Span<UInt8>, _ position: inout Int, end: Int, depth: Int, into output: inout [UInt8]
    ) throws(VerificationError) {
        guard depth < VerificationBudget.berDepth else {
            throw VerificationError(.asn1TooDeep, expected: "at most \(VerificationBudget.berDepth) levels")
        }
        guard end - position >= 2 else { throw VerificationError(.asn1Truncated) }
        let tag = bytes[position]
        let isConstructed = tag & 0x20 != 0
        if bytes[position + 1] == 0x80 {
            guard isConstructed, tag & 0x1F != 0x1F else {
                throw VerificationError(.asn1Malformed, expected: "a constructed element", found: "a primitive one")
            }
            position += 2
            var content: [UInt8] = []
            while !(end - position >= 2 && bytes[position] == 0 && bytes[position + 1] == 0) {
                guard position < end else { throw VerificationError(.asn1Truncated) }
                try element(bytes, &position, end: end, depth: depth + 1, into: &content)
            }
            position += 2
            try append(tag, content, to: &output)
            return
        }
        var cursor = DERCursor(position..<end)
        let header = try cursor.next(bytes)
        position = header.content.upperBound
        guard isConstructed else {
            bytes.extracting(header.whole).withUnsafeBufferPointer { output.append(contentsOf: $0) }
            return
        }
        var content: [UInt8] = []
        var inner = header.content.lowerBound
        while inner < header.content.upperBound {
            try element(bytes, &inner, end: header.content.upperBound, depth: depth + 1, into: &content)
        }
        try append(tag, content, to: &output)
    }

    private static func append(
        _ tag: UInt8, _ content: [UInt8], to output: inout [UInt8]
    ) throws(VerificationError) {
        guard tag == DERTag.constructedOctetString else {
            appendHeader(tag, content.count, to: &output)
            output += content
            return
        }
        // The pieces are primitive octet strings here: nested ones were joined on the way up.
        let slice = content[...]
        let pieces = slice.span
        var joined: [UInt8] = []
        var cursor = DERCursor(0..<content.count)
        while !cursor.isAtEnd {
            let piece = try cursor.next(DERTag.octetString, pieces)
            pieces.extracting(piece.content).withUnsafeBufferPointer { joined.append(contentsOf: $0) }
        }
        appendHeader(DERTag.octetString, joined.count, to: &output)
        output += joined
    }

    private static func appendHeader(_ tag: UInt8, _ length: Int, to output: inout [UInt8]) {
        output.append(tag)
        guard length >= 0x80 else {
            output.append(UInt8(length))
            return
        }
        let count = (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
        output.append(0x80 | UInt8(count))
        for index in (0..<count).reversed() {
            output.append(UInt8(truncatingIfNeeded: length >> (8 * index)))
        }
    }
}
