/// RSASSA-PKCS1-v1_5 in the spellings that signers use: Apple's `rsaEncryption`, Xcode's `sha256WithRSAEncryption`
/// (RFC 5754, 3.2, allows both).
struct CMSSignatureAlgorithm {
    /// The digest that the algorithm's name includes, if it includes one.
    let digestAlgorithm: DigestAlgorithm?
    /// The name of the spelling.
    let name: String

    init(_ bytes: Span<UInt8>, algorithmIdentifier: Range<Int>) throws(VerificationError) {
        let (oid, hasUsualParameters) = try AlgorithmIdentifier.read(bytes, algorithmIdentifier)
        if hasUsualParameters {
            if bytes.holds(ObjectIdentifier.rsaEncryption, at: oid) {
                (digestAlgorithm, name) = (nil, "rsaEncryption")
                return
            }
            for algorithm in CertificateSignatureAlgorithm.allCases
            where algorithm.isRSA && bytes.holds(algorithm.objectIdentifier, at: oid) {
                (digestAlgorithm, name) = (algorithm.digestAlgorithm, algorithm.rawValue)
                return
            }
        }
        throw VerificationError(
            .signatureAlgorithmUnsupported, expected: "RSASSA-PKCS1-v1_5",
            found: ObjectIdentifier.dotted(bytes.shown(oid)))
    }
}
