import Synchronization

/// The certificate paths that were verified before, so that a receipt whose chain was seen costs one signature check and not
/// three.
///
/// A path is found again by the bytes of its leaf and of its intermediates, all of which the container must hold. It enters
/// only after it was verified in full, so nobody without a trusted authority's key can fill the memory; the oldest leaves when
/// it is full. Validity is not part of what is remembered: the caller judges it for each receipt.
final class CertificatePathMemory: Sendable {
    private let paths = Mutex<[CertificatePath]>([])

    /// The remembered path of a leaf, if all of its intermediates are among the certificates.
    func path(leaf: Range<Int>, certificates: [Range<Int>], _ bytes: Span<UInt8>) -> CertificatePath? {
        for path in paths.withLock({ $0 }) {
            let leafDER = path.leaf.der
            guard bytes.isEqual(leaf, leafDER.span) else { continue }
            let isEmbedded = path.intermediates.allSatisfy { intermediate in
                Self.contains(certificates, bytes, intermediate.der)
            }
            if isEmbedded { return path }
        }
        return nil
    }

    /// Keeps a path that was verified in full.
    func remember(_ path: CertificatePath) {
        paths.withLock { paths in
            guard !paths.contains(where: { $0.isSame(as: path) }) else { return }
            if paths.count >= VerificationBudget.rememberedPaths { paths.removeFirst() }
            paths.append(path)
        }
    }

    /// How many paths are remembered.
    var count: Int { paths.withLock { $0.count } }

    private static func contains(_ certificates: [Range<Int>], _ bytes: Span<UInt8>, _ der: [UInt8]) -> Bool {
        for certificate in certificates where bytes.isEqual(certificate, der.span) { return true }
        return false
    }
}

extension CertificatePath {
    fileprivate func isSame(as other: CertificatePath) -> Bool {
        leaf.der == other.leaf.der && intermediates.map(\.der) == other.intermediates.map(\.der)
    }
}
