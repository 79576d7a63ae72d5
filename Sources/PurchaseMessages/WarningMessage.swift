/// A fact about a request that did not keep it from being answered, such as a field that the server does not know.
public struct WarningMessage: Codable, Sendable, Equatable {
    /// The stable code.
    public var code: String
    /// A sentence for people.
    public var detail: String
    /// The value found instead.
    public var found: String?

    /// A warning by its parts.
    public init(code: String, detail: String, found: String? = nil) {
        self.code = code
        self.detail = detail
        self.found = found
    }
}
