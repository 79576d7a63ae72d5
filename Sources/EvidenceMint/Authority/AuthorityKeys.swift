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
