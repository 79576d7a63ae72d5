public import Foundation

/// A test certificate authority with the structure of the one that vouches for App Store receipts: a root, an
/// intermediate like Apple's Worldwide Developer Relations authority, and the leaf that signs receipts.
///
/// All keys are RSA with 2048 bits and exponent 65537. No name in it can be mistaken for one of Apple's.
public struct CertificateAuthority: Sendable {
    /// The trust anchor to hand to a verifier.
    public let root: SigningIdentity
    /// Carries the marker 1.2.840.113635.100.6.2.1.
    public let intermediate: SigningIdentity
    /// Carries the marker 1.2.840.113635.100.6.11.1.
    public let leaf: SigningIdentity

    /// Makes an authority with new keys, which takes a noticeable part of a second.
    /// - Parameters:
    ///   - createdAt: when all three certificates begin to be valid. The default, 2008-01-01, is before the first
    ///     App Store receipt, so that a receipt of any date verifies.
    ///   - validity: other periods, certificate by certificate. They last until the end of 2049 by default.
    ///   - signatureAlgorithm: the algorithm of the signatures on the three certificates.
    /// - Throws: the errors of the crypto library if no key can be made.
    public init(
        createdAt: Date = CertificateTemplate.earliestDate, validity: Validity = Validity(),
        signatureAlgorithm: CertificateTemplate.SignatureAlgorithm = .sha256WithRSA
    ) throws {
        try self.init(
            keys: try AuthorityKeys.rsa(), standard: (.receiptRoot, .receiptIntermediate, .receiptLeaf),
            createdAt: createdAt, validity: validity, signatureAlgorithm: signatureAlgorithm
        )
    }

    public init(root: SigningIdentity, intermediate: SigningIdentity, leaf: SigningIdentity) {
        (self.root, self.intermediate, self.leaf) = (root, intermediate, leaf)
    }

    /// When the three certificates are valid.
    public struct Validity: Sendable {
        /// A period between two times, in whole seconds, both included.
        public struct Period: Sendable {
            /// The first second.
            public var notBefore: Date
            /// The last second.
            public var notAfter: Date

            /// A period, even one that ends before it begins.
            public init(notBefore: Date, notAfter: Date) {
                (self.notBefore, self.notAfter) = (notBefore, notAfter)
            }
        }

        /// The root's period; nil means the default.
        public var root: Period?
        /// The intermediate's period; nil means the default.
        public var intermediate: Period?
        /// The leaf's period; nil means the default.
        public var leaf: Period?

        /// The default periods, except for the given ones.
        public init(root: Period? = nil, intermediate: Period? = nil, leaf: Period? = nil) {
            (self.root, self.intermediate, self.leaf) = (root, intermediate, leaf)
        }
    }
}

extension CertificateAuthority {
    /// The same authority with another root certificate for the same key.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingRoot(_ change: (inout CertificateTemplate) -> Void) throws -> CertificateAuthority {
        let changed = try root.certified(.receiptRoot, by: root.privateKey, change)
        return CertificateAuthority(root: changed, intermediate: intermediate, leaf: leaf)
    }

    /// The same authority with another intermediate certificate for the same key, signed by the root.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingIntermediate(_ change: (inout CertificateTemplate) -> Void) throws -> CertificateAuthority {
        let changed = try intermediate.certified(.receiptIntermediate, by: root.privateKey, change)
        return CertificateAuthority(root: root, intermediate: changed, leaf: leaf)
    }

    /// The same authority with another leaf certificate for the same key, signed by the intermediate.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingLeaf(_ change: (inout CertificateTemplate) -> Void) throws -> CertificateAuthority {
        let changed = try leaf.certified(.receiptLeaf, by: intermediate.privateKey, change)
        return CertificateAuthority(root: root, intermediate: intermediate, leaf: changed)
    }

    /// Another authority with certificates of the same content, but different keys.
    func impersonated(with keys: AuthorityKeys) throws -> CertificateAuthority {
        try CertificateAuthority(
            keys: keys, root: root.content(.receiptRoot),
            intermediate: intermediate.content(.receiptIntermediate),
            leaf: leaf.content(.receiptLeaf))
    }

    init(
        keys: AuthorityKeys,
        standard: (root: CertificateTemplate, intermediate: CertificateTemplate, leaf: CertificateTemplate),
        createdAt: Date, validity: Validity, signatureAlgorithm: CertificateTemplate.SignatureAlgorithm
    ) throws {
        func template(
            _ standard: CertificateTemplate, _ key: SigningKey, _ period: Validity.Period?
        ) -> CertificateTemplate {
            var template = standard
            template.serialNumber = key.serialNumber
            template.notBefore = period?.notBefore ?? createdAt
            template.notAfter = period?.notAfter ?? CertificateTemplate.latestDate
            template.signatureAlgorithm = signatureAlgorithm
            return template
        }
        try self.init(
            keys: keys, root: template(standard.root, keys.root, validity.root),
            intermediate: template(standard.intermediate, keys.intermediate, validity.intermediate),
            leaf: template(standard.leaf, keys.leaf, validity.leaf)
        )
    }

    private init(
        keys: AuthorityKeys, root: CertificateTemplate, intermediate: CertificateTemplate, leaf: CertificateTemplate
    ) throws {
        self.root = try SigningIdentity(root, key: keys.root, issuerKey: keys.root)
        self.intermediate = try SigningIdentity(intermediate, key: keys.intermediate, issuerKey: keys.root)
        self.leaf = try SigningIdentity(leaf, key: keys.leaf, issuerKey: keys.intermediate)
    }
}

/// The keys of a root, of an intermediate and of a leaf.
struct AuthorityKeys: Sendable {
    let root: SigningKey
    let intermediate: SigningKey
    let leaf: SigningKey

    /// New keys as in the chain of Apple's receipts: RSA with 2048 bits.
    static func rsa() throws -> AuthorityKeys {
        AuthorityKeys(root: try .makeRSA(), intermediate: try .makeRSA(), leaf: try .makeRSA())
    }

    /// New keys as in the chain of Apple's signed payloads: P-384, and P-256 in the leaf.
    static func elliptic() -> AuthorityKeys {
        AuthorityKeys(root: .makeP384(), intermediate: .makeP384(), leaf: .makeP256())
    }
}

extension CertificateAuthority {
    /// An authority that is made once and kept in a folder: `root.der`, `root.pem`, `intermediate.der`, `leaf.der`,
    /// and the keys `root.key.pem`, `intermediate.key.pem`, `leaf.key.pem`, which only their owner may read.
    ///
    /// If several processes start at once, one of them makes the authority and all of them use it. The folder of an
    /// `AppStoreAuthority` has the same files, so this also reads its authority of receipts.
    /// - Parameter folder: the path of the folder. It may be missing or empty, but not a mount point, because it is put
    ///   in place as a whole by renaming another folder.
    /// - Throws: `MintError` when the folder cannot be read or written, or holds something else.
    public init(folder: URL) throws {
        let store = IdentityFolder(folder)
        if !store.isInhabited { try store.publish(try CertificateAuthority().folderContent) }
        // The folder is always read back: if two processes made one at once, only its content counts.
        try self.init(store)
    }

    init(_ store: IdentityFolder) throws {
        self.init(
            root: try store.identity("root"), intermediate: try store.identity("intermediate"),
            leaf: try store.identity("leaf")
        )
    }

    /// The root first, which is the trust anchor.
    var folderContent: IdentityFolder.Content {
        IdentityFolder.Content(anchors: [("root", root)], identities: [("intermediate", intermediate), ("leaf", leaf)])
    }
}
