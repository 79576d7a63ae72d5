/// Finds the path from a leaf to a trust anchor (RFC 5280, 6.1), within a budget of certificates and signature checks.
///
/// Candidates may be in any order. A path ends at an anchor of the caller. Embedded roots vouch for nothing: they only
/// tell, after a failed search, a complete chain below an unknown root from a chain that is broken. Each certificate is
/// checked against each possible issuer at most once, however many paths contain the two.
struct CertificatePathBuilder {
    let anchors: [TrustAnchor]
    /// The time at which every certificate must be valid: the signing date of the evidence.
    let moment: AppStoreTime
    private var candidates: [Certificate] = []
    /// The DER of embedded self-issued certificates, read only if the search fails.
    private var embeddedRoots: [[UInt8]] = []
    private var unreadable: VerificationError?
    private var signatures = CertificateSignatureChecks()
    /// How long ago, in milliseconds, an embedded authority may have ended.
    private var tolerance: Int64 = 0
    /// The failure that came nearest to an anchor, which is the most useful one.
    private var bestFailure: (depth: Int, error: VerificationError)?

    init(anchors: [TrustAnchor], at moment: AppStoreTime) {
        self.anchors = anchors
        self.moment = moment
    }

    /// Adds a certificate that may be on the path. An unreadable one is an error only if no path is found without it:
    /// the result must not depend on whether the rest of the chain was seen before.
    mutating func add(_ read: () throws(VerificationError) -> Certificate) {
        do throws(VerificationError) {
            let candidate = try read()
            if candidate.isSelfIssued { addRoot(candidate.der) } else { candidates.append(candidate) }
        } catch {
            unreadable = unreadable ?? error
        }
    }

    /// Adds a certificate that can only be a root. An unreadable one has no effect.
    mutating func addRoot(_ der: [UInt8]) { embeddedRoots.append(der) }

    /// The path, with every check of a certificate path made; the marker extensions are checked by `MarkerPolicy`.
    mutating func path(from leaf: Certificate) throws(VerificationError) -> CertificatePath {
        // The markers of a leaf are irrelevant if the operator trusts it by its bytes.
        if let anchor = anchors.first(where: { $0.mayStandForItself && $0.certificate.der == leaf.der }) {
            try leaf.validity.require(moment, of: leaf.subject.description)
            return CertificatePath(leaf: leaf, intermediates: [], anchor: anchor)
        }
        guard let path = try extend([leaf], to: anchors) else {
            var failure =
                unreadable ?? bestFailure?.error
                ?? VerificationError(
                    .issuerUnknown, expected: "an issuer that is trusted or embedded", found: leaf.issuer.description)
            guard failure.code != .issuerUnknown, let root = try unknownRoot(of: leaf) else {
                if failure.code == .certificateExpired { failure.authorityEnd = try recentEnd(above: leaf) }
                throw failure
            }
            throw VerificationError(
                .issuerUnknown, expected: "a root with a trusted key",
                found: "\(root.subject) with another key or period")
        }
        // Checked last: for an unknown certificate, "untrusted" is more useful than "expired".
        try requireUsable(leaf)
        guard leaf.extensions.maySignContent else {
            throw VerificationError(
                .keyUsageUnsuitable, expected: "digitalSignature for \(leaf.subject)", found: "another key usage")
        }
        return path
    }

    /// The embedded root to which the leaf has a path with no fault but that nobody trusts the root; `nil` if there is
    /// none.
    ///
    /// Apple can issue a root again under its old name. The signature of its intermediate does not fit the old key
    /// then, although nothing is forged. Whoever wants this answer can also give their root a name of their own. The
    /// search shares the budget and the results of the first one.
    private mutating func unknownRoot(of leaf: Certificate) throws(VerificationError) -> Certificate? {
        var roots: [TrustAnchor] = []
        for der in embeddedRoots where !anchors.contains(where: { $0.certificate.der == der }) {
            // What cannot be read, or has no acceptable key, is no root.
            guard let root = try? TrustAnchor(certificate: der), root.certificate.isSelfIssued else { continue }
            roots.append(root)
        }
        guard !roots.isEmpty, let path = try extend([leaf], to: roots) else { return nil }
        let root = path.anchor.certificate
        do throws(VerificationError) {
            try signatures.require(root, by: root)
        } catch let error where error.code == .pathBudgetExceeded {
            throw error
        } catch {
            return nil
        }
        return root
    }

    /// The end of an embedded authority that had just ended, if nothing else is wrong with a path that contains it;
    /// `nil` if there is no such path. The search shares the budget and the results of the first one.
    private mutating func recentEnd(above leaf: Certificate) throws(VerificationError) -> AppStoreTime? {
        tolerance = CertificateValidity.recent
        guard let path = try extend([leaf], to: anchors), leaf.extensions.maySignContent else { return nil }
        do throws(VerificationError) {
            try requireUsable(leaf, tolerance)
            try MarkerPolicy.require(path)
        } catch {
            return nil
        }
        return path.intermediates.map(\.validity.notAfter).min().flatMap { $0 < moment ? $0 : nil }
    }

    /// Finds the issuer of the last certificate of the chain: first among the roots, then among the candidates.
    private mutating func extend(
        _ chain: [Certificate], to roots: [TrustAnchor]
    ) throws(VerificationError) -> CertificatePath? {
        guard let current = chain.last, let leaf = chain.first else { return nil }
        // The path ends only at a root: an intermediate that the operator names vouches for transaction receipts, which
        // do not contain one. This evidence contains its intermediate, which must be correct in every respect.
        for anchor in roots.naming(current.issuer) {
            if try issued(chain, by: anchor.certificate) {
                return CertificatePath(leaf: leaf, intermediates: Array(chain.dropFirst()), anchor: anchor)
            }
        }
        for candidate in candidates
        where candidate.subject == current.issuer && !chain.contains(where: { $0 === candidate }) {
            guard chain.count <= VerificationBudget.intermediates else {
                note(
                    chain.count,
                    VerificationError(
                        .pathTooLong, expected: "at most \(VerificationBudget.intermediates) intermediates"))
                return nil
            }
            guard try issued(chain, byEmbedded: candidate) else { continue }
            if let path = try extend(chain + [candidate], to: roots) { return path }
        }
        note(
            chain.count,
            VerificationError(
                .issuerUnknown, expected: "an issuer that is trusted or embedded", found: current.issuer.description))
        return nil
    }

    /// The same for an issuer that the sender chose.
    ///
    /// Apple's only embedded P-384 authorities are directly below its P-384 root. Elsewhere a P-384 key only makes the
    /// search expensive.
    private mutating func issued(
        _ chain: [Certificate], byEmbedded issuer: Certificate
    ) throws(VerificationError) -> Bool {
        guard case .success(.p384) = issuer.publicKey,
            !anchors.naming(issuer.issuer).contains(where: { $0.certificate.hasP384Key })
        else { return try issued(chain, by: issuer, tolerance) }
        note(
            chain.count + 1,
            VerificationError(
                .issuerUnknown, expected: "a trusted root with P-384, which alone may issue \(issuer.subject)",
                found: issuer.issuer.description))
        return false
    }

    /// Whether the issuer may have issued, and did issue, the last certificate of the chain. A reason against it is
    /// kept.
    private mutating func issued(
        _ chain: [Certificate], by issuer: Certificate, _ tolerance: Int64 = 0
    ) throws(VerificationError) -> Bool {
        guard let current = chain.last else { return false }
        do throws(VerificationError) {
            _ = try issuer.publicKey.get()
            try requireUsable(issuer, tolerance)
            guard issuer.extensions.isAuthority else {
                throw VerificationError(.issuerNotAuthority, found: issuer.subject.description)
            }
            guard issuer.extensions.maySignCertificates else {
                throw VerificationError(
                    .keyUsageUnsuitable, expected: "keyCertSign for \(issuer.subject)", found: "another key usage")
            }
            // The leaf does not count (RFC 5280, 4.2.1.9).
            let below = chain.count - 1
            if let limit = issuer.extensions.pathLength, below > limit {
                throw VerificationError(
                    .pathLengthExceeded, expected: "at most \(limit) authorities below \(issuer.subject)",
                    found: "\(below)")
            }
            try signatures.require(current, by: issuer)
            return true
        } catch let error where error.code == .pathBudgetExceeded {
            throw error
        } catch {
            note(chain.count, error)
            return false
        }
    }

    /// The requirements for every certificate of a path.
    private func requireUsable(_ certificate: Certificate, _ tolerance: Int64 = 0) throws(VerificationError) {
        try certificate.validity.require(moment, of: certificate.subject.description, tolerance: tolerance)
        if let unknown = certificate.extensions.unknownCriticalExtension {
            throw VerificationError(.criticalExtensionUnknown, found: "\(unknown) in \(certificate.subject)")
        }
    }

    private mutating func note(_ depth: Int, _ error: VerificationError) {
        guard depth >= bestFailure?.depth ?? 0 else { return }
        // At the same depth, a failure of an issuer that was found is more useful than a missing issuer.
        if depth == bestFailure?.depth, error.code == .issuerUnknown { return }
        bestFailure = (depth, error)
    }
}

extension [TrustAnchor] {
    /// The roots with this name.
    fileprivate func naming(_ subject: DistinguishedName) -> [TrustAnchor] {
        filter { $0.certificate.isSelfIssued && $0.certificate.subject == subject }
    }
}

extension Certificate {
    fileprivate var hasP384Key: Bool { if case .success(.p384) = publicKey { true } else { false } }
}

/// A leaf that a trust anchor vouches for. Only `CertificatePathBuilder` creates one, after all certificates of the
/// path were checked.
///
/// The validity period is kept separately, because it is checked again for each receipt.
final class CertificatePath: Sendable {
    let leaf: Certificate
    /// The authorities between the leaf and the anchor, the leaf's issuer first; empty if the anchor issued the leaf or
    /// is the leaf.
    let intermediates: [Certificate]
    let anchor: TrustAnchor
    /// The period in which all certificates of the path, the anchor included, are valid.
    let validity: CertificateValidity

    init(
        leaf: Certificate, intermediates: [Certificate], anchor: TrustAnchor
    ) {
        self.leaf = leaf
        self.intermediates = intermediates
        self.anchor = anchor
        validity = intermediates.reduce(leaf.validity.intersection(anchor.certificate.validity)) {
            $0.intersection($1.validity)
        }
    }

    /// Whether the operator trusts the leaf itself.
    var isLeafAnchored: Bool { anchor.mayStandForItself && leaf.der == anchor.certificate.der }

    /// Whether every certificate of the path is valid at the time.
    func isValid(at moment: AppStoreTime) -> Bool { validity.contains(moment) }
}

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
