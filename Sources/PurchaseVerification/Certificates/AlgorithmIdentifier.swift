/// AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL } (RFC 5280, 4.1.1.2).
enum AlgorithmIdentifier {
    /// The offsets of the object identifier, and whether the parameters are NULL or absent.
    static func read(
        _ bytes: Span<UInt8>, _ content: Range<Int>
    ) throws(VerificationError) -> (oid: Range<Int>, hasUsualParameters: Bool) {
        var cursor = DERCursor(content)
        let oid = try cursor.next(DERTag.objectIdentifier, bytes).content
        guard !cursor.isAtEnd else { return (oid, true) }
        let parameters = try cursor.next(bytes)
        try cursor.finish()
        return (oid, parameters.tag == DERTag.null && parameters.content.isEmpty)
    }
}
