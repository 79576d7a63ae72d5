public import Foundation

/// The authority of signed payloads, with the structure of the one that vouches for payloads of StoreKit 2 and the App
/// Store server: a P-384 root, a P-384 intermediate, and a P-256 leaf, all certificates signed with
/// `ecdsa-with-SHA384`.
public struct SignedPayloadAuthority: Sendable {
    /// The same three identities; the operations on them do not depend on the kind of keys.
    let chain: CertificateAuthority

    /// The trust anchor to hand to a verifier. It is the last in every `x5c`.
    public var root: SigningIdentity { chain.root }
    /// Carries the marker 1.2.840.113635.100.6.2.1.
    public var intermediate: SigningIdentity { chain.intermediate }
    /// Carries the marker 1.2.840.113635.100.6.11.1.
    public var leaf: SigningIdentity { chain.leaf }

    /// Makes an authority with new keys.
    /// - Parameters:
    ///   - createdAt: when all three certificates begin to be valid.
    ///   - validity: other periods, certificate by certificate. They last until the end of 2049 by default.
    /// - Throws: the errors of the crypto library if a key cannot sign.
    public init(
        createdAt: Date = CertificateTemplate.earliestDate,
        validity: CertificateAuthority.Validity = .init()
    ) throws {
        chain = try CertificateAuthority(
            keys: .elliptic(),
            standard: (.signedPayloadRoot, .signedPayloadIntermediate, .signedPayloadLeaf),
            createdAt: createdAt,
            validity: validity,
            signatureAlgorithm: .ecdsaWithSHA384
        )
    }

    /// Joins any three identities. The leaf needs a P-256 key to sign with ES256.
    public init(root: SigningIdentity, intermediate: SigningIdentity, leaf: SigningIdentity) {
        chain = CertificateAuthority(root: root, intermediate: intermediate, leaf: leaf)
    }

    init(chain: CertificateAuthority) {
        self.chain = chain
    }
}

extension SignedPayloadAuthority {
    /// The same authority with another root certificate for the same key.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingRoot(_ change: (inout CertificateTemplate) -> Void) throws -> SignedPayloadAuthority {
        SignedPayloadAuthority(chain: try chain.replacingRoot(change))
    }

    /// The same authority with another intermediate certificate for the same key, signed by the root.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingIntermediate(_ change: (inout CertificateTemplate) -> Void) throws -> SignedPayloadAuthority {
        SignedPayloadAuthority(chain: try chain.replacingIntermediate(change))
    }

    /// The same authority with another leaf certificate for the same key, signed by the intermediate.
    /// - Throws: the errors of the crypto library if the key cannot sign.
    public func replacingLeaf(_ change: (inout CertificateTemplate) -> Void) throws -> SignedPayloadAuthority {
        SignedPayloadAuthority(chain: try chain.replacingLeaf(change))
    }
}
