import HostileBytes
import PurchaseVerification

/// Puts the input wherever a certificate can be: as an anchor, as the signer, as an authority, and beside a genuine
/// chain.
struct CertificateTarget {
    private let container: DERTree
    /// Leaf, intermediate and root of the container.
    private let chain: [DERTree]

    init(_ minted: MintedSamples) throws {
        guard let container = DERTree(try minted.mint()), let certificates = container[1, 0, 3] else {
            throw FuzzError.unreadableSeed
        }
        self.container = container
        chain = certificates.children
    }

    /// The embedded certificates of a container.
    static func certificates(of bytes: [UInt8]) -> [[UInt8]] {
        DERTree(bytes)?[1, 0, 3]?.children.map(\.bytes) ?? []
    }

    func check(_ certificate: [UInt8]) {
        let world = World.shared
        if let anchor = try? TrustAnchor(certificate: certificate) {
            _ = anchor.subject
            // As the anchor of a genuine receipt, and of a receipt that it signed itself, as Xcode's certificate does.
            world.checkVerdict(of: container.bytes, anchors: [anchor])
            world.checkVerdict(of: with([certificate], signer: certificate).bytes, anchors: [anchor])
        }
        let (leaf, intermediate, root) = (chain[0].bytes, chain[1].bytes, chain[2].bytes)
        world.checkVerdict(of: with([leaf, certificate, root]).bytes)
        world.checkVerdict(of: with([certificate, intermediate], signer: certificate).bytes)
        world.checkVerdict(of: with([leaf, intermediate, certificate]).bytes)
    }

    /// The container with other certificates, and the signer named as the given certificate names itself.
    private func with(_ certificates: [[UInt8]], signer: [UInt8]? = nil) -> DERTree {
        var result = container
        result.children[1].children[0].children[3] = DERTree(
            tag: 0xA0, content: certificates.flatMap { $0 })
        guard let signed = signer.flatMap({ DERTree($0) })?[0] else { return result }
        let fields = signed.children.drop { $0.tag == 0xA0 }
        guard fields.count >= 3, let serialNumber = fields.first else { return result }
        let identifier = DERTree(tag: 0x30, children: [fields[fields.startIndex + 2], serialNumber])
        result.children[1].children[0].children[4].children[0].children[1] = identifier
        return result
    }
}
