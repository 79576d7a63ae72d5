/// Splits evidence for storage. It reads untrusted bytes: bytes that it does not recognise become a literal, and
/// `SplitEvidence.joined` restores the same bytes.
package struct EvidenceSplitter {
    /// The minimum length of base64 that is unpacked. Shorter text, such as an id of hexadecimal digits, compresses
    /// better unchanged.
    private static let minimumText = 64
    /// The maximum size of a shared certificate set or JWS header. Apple's have 4 to 5 kB.
    private static let maximumPart = 1 << 14
    private static let minimumPart = 256

    /// Whether certificates become shared parts. Only those of verified evidence do, because anybody can send new
    /// certificates in every request.
    let sharesParts: Bool

    package init(sharesParts: Bool) { self.sharesParts = sharesParts }

    /// The pieces of evidence.
    package func split(_ evidence: [UInt8]) -> SplitEvidence {
        SplitEvidence(pieces(of: evidence[...], depth: SplitEvidence.depth))
    }

    /// The pieces of a receipt in DER, of text that is base64 as a whole, or of other text.
    private func pieces(of bytes: ArraySlice<UInt8>, depth: Int) -> [EvidencePiece] {
        if let pieces = containerPieces(bytes) { return pieces }
        if CompactJWSRange.canStart(bytes) {
            let pieces = textPieces(bytes, depth: depth)
            if pieces.count > 1 { return pieces }
        }
        let end = bytes.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? bytes.startIndex
        let (text, space) = (bytes[..<end], bytes[end...])
        if depth > 0, text.count >= Self.minimumText, let (form, content) = Base64Form.decoded(text) {
            return [.base64(form, pieces(of: content[...], depth: depth - 1))] + literal(space)
        }
        if bytes.first == UInt8(ascii: "{"), let pieces = propertyListPieces(bytes, depth: depth) { return pieces }
        return textPieces(bytes, depth: depth)
    }

    private func literal(_ bytes: ArraySlice<UInt8>) -> [EvidencePiece] {
        bytes.isEmpty ? [] : [.literal(bytes)]
    }

    // MARK: Containers

    private func containerPieces(_ bytes: ArraySlice<UInt8>) -> [EvidencePiece]? {
        guard let signer = SignedDataSigner(bytes) else { return nil }
        let certificates: [EvidencePiece] = [
            isShareable(signer.range) ? .shared(bytes[signer.range]) : .literal(bytes[signer.range])
        ]
        return literal(bytes[..<signer.range.lowerBound]) + certificates + [.opaque(bytes[signer.range.upperBound...])]
    }

    private func isShareable(_ range: Range<Int>) -> Bool {
        sharesParts && range.count >= Self.minimumPart && range.count <= Self.maximumPart
    }

    // MARK: Signed payloads

    /// Text with the compact JWS inside it. A notification has two more in its payload.
    private func textPieces(_ text: ArraySlice<UInt8>, depth: Int) -> [EvidencePiece] {
        var pieces: [EvidencePiece] = []
        var rest = text
        while depth > 0, let range = CompactJWSRange(in: rest) {
            pieces += literal(rest[..<range.header.lowerBound])
            pieces += payloadPieces(range, rest, depth: depth)
            rest = rest[range.signature.upperBound...]
        }
        return pieces + literal(rest)
    }

    private func payloadPieces(
        _ range: CompactJWSRange, _ text: ArraySlice<UInt8>, depth: Int
    ) -> [EvidencePiece] {
        var pieces: [EvidencePiece] = []
        let dot = text[range.header.upperBound...range.header.upperBound]
        if isShareable(range.header) {
            pieces.append(.shared(text[range.header]))
        } else {
            pieces += base64(text[range.header]) { [.literal($0)] }
        }
        pieces.append(.literal(dot))
        pieces += base64(text[range.payload]) { textPieces($0, depth: depth - 1) }
        pieces.append(.literal(dot))
        pieces += base64(text[range.signature]) { [.opaque($0)] }
        return pieces
    }

    /// Text as base64 of other pieces, or unchanged.
    private func base64(
        _ text: ArraySlice<UInt8>, _ inside: (ArraySlice<UInt8>) -> [EvidencePiece]
    ) -> [EvidencePiece] {
        guard let (form, content) = Base64Form.decoded(text) else { return literal(text) }
        return [.base64(form, inside(content[...]))]
    }

    // MARK: Transaction receipts

    /// The property list of a transaction receipt, with its quoted strings in base64.
    private func propertyListPieces(_ list: ArraySlice<UInt8>, depth: Int) -> [EvidencePiece]? {
        let quote = UInt8(ascii: "\"")
        var pieces: [EvidencePiece] = []
        var (rest, from) = (list, list.startIndex)
        while depth > 0, let open = rest.firstIndex(of: quote),
            let close = list[(open + 1)...].firstIndex(of: quote)
        {
            rest = list[(close + 1)...]
            let text = list[(open + 1)..<close]
            guard text.count >= Self.minimumText, let (form, content) = Base64Form.decoded(text) else { continue }
            pieces += literal(list[from..<text.startIndex])
            pieces.append(
                .base64(form, signatureFieldPieces(content) ?? self.pieces(of: content[...], depth: depth - 1)))
            from = close
        }
        return pieces.isEmpty ? nil : pieces + literal(list[from...])
    }

    /// The field `signature`: a version, an RSA signature, and the leaf after its length in four bytes.
    private func signatureFieldPieces(_ field: [UInt8]) -> [EvidencePiece]? {
        for signature in [128, 256] {
            let length = 1 + signature
            guard field.count > length + 4, (1...9).contains(field[0]),
                field[length..<length + 4].reduce(0, { $0 << 8 | Int($1) }) == field.count - length - 4
            else { continue }
            let leaf = length + 4..<field.count
            return [
                .literal(field[..<1]), .opaque(field[1..<length]), .literal(field[length..<length + 4]),
                isShareable(leaf) ? .shared(field[leaf]) : .literal(field[leaf]),
            ]
        }
        return nil
    }
}
