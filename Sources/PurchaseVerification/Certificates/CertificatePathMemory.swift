/// The certificate paths verified before, for all kinds of evidence: a receipt with a known chain costs one signature
/// check instead of three.
///
/// A path enters only after it was fully verified, so nobody without a trusted authority's key can fill the memory; if
/// it is full, the oldest entry is removed. Validity is not remembered: the caller checks it for each piece of
/// evidence.
final class CertificatePathMemory: Sendable {
    /// The key of a remembered path.
    private enum Entry: Sendable {
        /// The bytes of its leaf and of its intermediates, all of which the evidence must hold.
        case chain(CertificatePath)
        /// The whole header of a signed payload: on a hit it is not decoded.
        case header([UInt8], CertificatePath)
        /// The leaf of a transaction receipt, which does not contain its issuer.
        case transactionReceiptLeaf(VerifiedLeaf)
    }

    private let entries = Locked<[Entry]>([])

    /// The number of entries.
    var count: Int { entries.withLock { $0.count } }

    /// The number of entries with the header of a signed payload.
    var headers: Int {
        entries.withLock { entries in
            entries.reduce(0) { count, entry in if case .header = entry { count + 1 } else { count } }
        }
    }

    /// The remembered path of a leaf, if all of its intermediates are among the certificates.
    private func path(leaf: Range<Int>, certificates: [Range<Int>], _ bytes: Span<UInt8>) -> CertificatePath? {
        for entry in entries.withLock({ $0 }) {
            guard case .chain(let path) = entry, bytes.isEqual(leaf, path.leaf.der) else { continue }
            let isEmbedded = path.intermediates.allSatisfy { intermediate in
                Self.contains(certificates, bytes, intermediate.der)
            }
            if isEmbedded { return path }
        }
        return nil
    }

    /// The path of a leaf, valid at the time and with Apple's markers: the remembered one, or a new one.
    ///
    /// - Parameter new: builds the path of a chain that was not seen before.
    func validPath(
        leaf: Range<Int>, certificates: [Range<Int>], _ bytes: Span<UInt8>, at moment: AppStoreTime,
        new: () throws(VerificationError) -> CertificatePath
    ) throws(VerificationError) -> (path: CertificatePath, isNew: Bool) {
        if let path = path(leaf: leaf, certificates: certificates, bytes), path.isValid(at: moment) {
            return (path, false)
        }
        let path = try new()
        try MarkerPolicy.require(path)
        return (path, true)
    }

    /// The remembered path of exactly this header.
    func path(header: Range<Int>, _ bytes: Span<UInt8>) -> CertificatePath? {
        for entry in entries.withLock({ $0 }) {
            if case .header(let known, let path) = entry, bytes.isEqual(header, known) { return path }
        }
        return nil
    }

    /// The remembered leaf of a transaction receipt, valid at the time. A leaf is remembered once for each authority in
    /// whose period it was checked.
    func leaf(_ field: SignatureField, at moment: AppStoreTime) -> VerifiedLeaf? {
        let bytes = field.bytes[...]
        for entry in entries.withLock({ $0 }) {
            guard case .transactionReceiptLeaf(let leaf) = entry, leaf.version == field.version,
                leaf.validity.contains(moment), bytes.span.isEqual(field.certificateRange, leaf.certificate)
            else { continue }
            return leaf
        }
        return nil
    }

    /// Keeps a path that was verified in full.
    func remember(_ path: CertificatePath) {
        remember(.chain(path)) { entry in
            if case .chain(let known) = entry { known.isSame(as: path) } else { false }
        }
    }

    /// Keeps a path that was verified in full, under the header that holds it.
    func remember(_ path: CertificatePath, header: [UInt8]) {
        remember(.header(header, path)) { entry in
            if case .header(let known, _) = entry { known == header } else { false }
        }
    }

    /// Keeps the leaf of a transaction receipt that was verified in full.
    func remember(_ leaf: VerifiedLeaf) {
        remember(.transactionReceiptLeaf(leaf)) { entry in
            if case .transactionReceiptLeaf(let known) = entry { known.isSame(as: leaf) } else { false }
        }
    }

    private func remember(_ entry: Entry, unless isSame: (Entry) -> Bool) {
        entries.withLock { entries in
            guard !entries.contains(where: isSame) else { return }
            if entries.count >= VerificationBudget.rememberedPaths { entries.removeFirst() }
            entries.append(entry)
        }
    }

    private static func contains(_ certificates: [Range<Int>], _ bytes: Span<UInt8>, _ der: [UInt8]) -> Bool {
        for certificate in certificates where bytes.isEqual(certificate, der) { return true }
        return false
    }
}

extension CertificatePath {
    fileprivate func isSame(as other: CertificatePath) -> Bool {
        leaf.der == other.leaf.der && intermediates.map(\.der) == other.intermediates.map(\.der)
    }
}

extension VerifiedLeaf {
    fileprivate func isSame(as other: VerifiedLeaf) -> Bool {
        version == other.version && validity == other.validity && certificate == other.certificate
    }
}

/// Apple's marker extensions: the leaf signs receipts, and a Worldwide Developer Relations authority issued it.
///
/// The markers distinguish receipts from other data that Apple signs (provisioning profiles, App Attest, developers'
/// code). A leaf that the operator trusts by its bytes needs none.
enum MarkerPolicy {
    static func require(_ path: CertificatePath) throws(VerificationError) {
        guard !path.isLeafAnchored else { return }
        guard path.leaf.extensions.hasReceiptSigningMarker else {
            throw VerificationError(
                .leafMarkerMissing,
                expected: "extension \(ObjectIdentifier.dotted(ObjectIdentifier.receiptSigningMarker))",
                found: path.leaf.subject.description)
        }
        guard let issuer = path.intermediates.first, issuer.extensions.hasDeveloperRelationsMarker else {
            throw VerificationError(
                .intermediateMarkerMissing,
                expected: "extension \(ObjectIdentifier.dotted(ObjectIdentifier.developerRelationsMarker))",
                found: path.leaf.issuer.description)
        }
    }
}

/// A fully checked leaf certificate of a transaction receipt, except for its validity, which is checked for each
/// receipt.
final class VerifiedLeaf: Sendable {
    let certificate: [UInt8]
    let version: TransactionReceiptVersion
    let authority: IssuingAuthority
    let key: PublicKey
    let validity: CertificateValidity
    let subject: DistinguishedName

    init(
        _ leaf: Certificate, version: TransactionReceiptVersion, authority: IssuingAuthority, key: PublicKey
    ) {
        certificate = leaf.der
        self.version = version
        self.authority = authority
        self.key = key
        validity = leaf.validity.intersection(authority.validity)
        subject = leaf.subject
    }
}
