/// `GET /v1/subscriptions/{original}/extensions`: the extensions that operators asked for, the newest first.
public struct ExtensionList: Codable, Sendable, Equatable {
    public var extensions: [ExtensionMessage]

    /// A list.
    public init(extensions: [ExtensionMessage]) { self.extensions = extensions }
}
