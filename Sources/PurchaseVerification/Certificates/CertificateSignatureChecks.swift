/// The signature checks of one search for a path: each pair of certificates once, within a budget of weight.
struct CertificateSignatureChecks {
    private struct Pair: Hashable {
        let certificate: Swift.ObjectIdentifier
        let issuer: Swift.ObjectIdentifier
    }

    private var results: [Pair: Result<Void, VerificationError>] = [:]
    /// The digest of each certificate's signed part. Hostile certificates are large, so each is hashed once.
    private var digests: [Swift.ObjectIdentifier: MessageDigest] = [:]
    private var weight = 0

    /// Checks that the key of the issuer signed the certificate. The caller keeps both alive for the whole search.
    ///
    /// - Throws: `certificate_signature_invalid`; `path_budget_exceeded` if all checks together would weigh too much.
    mutating func require(_ certificate: Certificate, by issuer: Certificate) throws(VerificationError) {
        let pair = Pair(
            certificate: Swift.ObjectIdentifier(certificate), issuer: Swift.ObjectIdentifier(issuer))
        if let known = results[pair] { return try known.get() }
        let key = try issuer.publicKey.get()
        // A key of another kind is refused without any arithmetic.
        if key.fits(certificate.signatureAlgorithm) {
            weight += key.signatureCheckWeight
            guard weight <= VerificationBudget.pathSignatureWeight else {
                throw VerificationError(
                    .pathBudgetExceeded,
                    expected: "signature checks of a weight of at most \(VerificationBudget.pathSignatureWeight)")
            }
        }
        let digest = digests[pair.certificate] ?? certificate.digest
        digests[pair.certificate] = digest
        let result = Result { () throws(VerificationError) in
            try certificate.requireSignature(by: key, named: issuer.subject, over: digest)
        }
        results[pair] = result
        try result.get()
    }
}
