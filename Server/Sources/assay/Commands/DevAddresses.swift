/// Where the server and the store of `assay dev` are, and the keys of their apps.
struct DevAddresses: Sendable {
    /// `http://HOST:PORT`.
    let server: String
    let store: String
    let keys: DevKeys
}
