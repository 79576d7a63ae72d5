/// A request to the purchase server.
public struct ServiceRequest: Sendable, Equatable {
    /// `POST`.
    public var method: String
    /// The path, such as `/v1/purchases`.
    public var path: String
    public var headers: [String: String]
    public var body: [UInt8]

    /// A request by its parts.
    public init(method: String = "POST", path: String, headers: [String: String], body: [UInt8]) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}
