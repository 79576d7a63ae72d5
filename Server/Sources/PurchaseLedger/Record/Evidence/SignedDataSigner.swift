/// The position of the certificates and the signer in CMS `SignedData` (RFC 5652, section 5.1): from the certificate
/// set to the signature. Receipts of one signer share these bytes.
struct SignedDataSigner {
    /// From the certificate set up to the signature, which is at the end.
    let range: Range<Int>

    /// - Returns: `nil` for anything except DER as Apple writes it, with one signer without signed attributes at the
    ///   end.
    init?(_ bytes: ArraySlice<UInt8>) {
        var cursor = TagCursor(bytes: bytes, position: bytes.startIndex)
        // ContentInfo: contentType, [0] content; SignedData: version, digestAlgorithms, encapContentInfo.
        guard cursor.enter(0x30), cursor.skip(0x06), cursor.enter(0xA0),
            cursor.enter(0x30), cursor.skip(0x02), cursor.skip(0x31), cursor.skip(0x30)
        else { return nil }
        let start = cursor.position
        // certificates; SignerInfo: version, sid, digestAlgorithm, signatureAlgorithm, signature.
        guard cursor.skip(0xA0), cursor.enter(0x31), cursor.enter(0x30),
            cursor.skip(0x02), cursor.skip(0x30), cursor.skip(0x30), cursor.skip(0x30),
            cursor.enter(0x04)
        else { return nil }
        range = start..<cursor.position
    }
}

/// Reads tags and definite lengths. It never reads outside its bytes.
private struct TagCursor {
    let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(bytes: ArraySlice<UInt8>, position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// Moves to the content of a tag that extends to the end.
    mutating func enter(_ tag: UInt8) -> Bool {
        guard let content = content(tag), content.upperBound == bytes.endIndex else { return false }
        position = content.lowerBound
        return true
    }

    /// Advances past a tag.
    mutating func skip(_ tag: UInt8) -> Bool {
        guard let content = content(tag) else { return false }
        position = content.upperBound
        return true
    }

    private func content(_ tag: UInt8) -> Range<Int>? {
        guard bytes.endIndex - position >= 2, bytes[position] == tag else { return nil }
        var (length, start) = (Int(bytes[position + 1]), position + 2)
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...4).contains(count), bytes.endIndex - start >= count else { return nil }
            length = bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
            start += count
        }
        guard length <= bytes.endIndex - start else { return nil }
        return start..<start + length
    }
}
