package import PurchaseVerification

/// The reader of the files that settings name.
package struct NamedFiles: Sendable {
    /// The certificates of a file.
    package var anchors: @Sendable (_ path: String) throws(SettingFault) -> [TrustAnchor]
    /// The secret that a file holds.
    package var secret: @Sendable (_ path: String) throws(SettingFault) -> String
    /// The private key that a file of mode 0600 holds.
    package var privateKey: @Sendable (_ path: String) throws(SettingFault) -> String
    /// The bytes of a file.
    package var bytes: @Sendable (_ path: String) throws(SettingFault) -> [UInt8]
    /// A variable of the environment.
    package var variable: @Sendable (_ name: String) -> String?

    package init(
        anchors: @escaping @Sendable (_ path: String) throws(SettingFault) -> [TrustAnchor],
        secret: @escaping @Sendable (_ path: String) throws(SettingFault) -> String,
        privateKey: (@Sendable (_ path: String) throws(SettingFault) -> String)? = nil,
        bytes: @escaping @Sendable (_ path: String) throws(SettingFault) -> [UInt8] = { _ throws(SettingFault) in [] },
        variable: @escaping @Sendable (_ name: String) -> String? = { _ in nil }
    ) {
        self.anchors = anchors
        self.secret = secret
        self.privateKey = privateKey ?? secret
        self.bytes = bytes
        self.variable = variable
    }

    /// Reads no files: certificates and secrets are empty. For commands that neither verify nor answer.
    package static let unread = NamedFiles { _ throws(SettingFault) in
        []
    } secret: { _ throws(SettingFault) in
        ""
    }
}
