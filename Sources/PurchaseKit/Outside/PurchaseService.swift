/// Carries requests to the purchase server and answers back. Its answers are verified, so it may be an untrusted relay.
///
/// An implementation follows no redirect, uses no cache, and changes neither body nor the fields of a request. Errors
/// of the server are answers too; it throws only if there is no answer.
public protocol PurchaseService: Sendable {
    func send(_ request: ServiceRequest) async throws -> ServiceAnswer
}

public struct ServiceRequest: Sendable, Equatable {
    public var method: String
    public var path: String
    public var headers: [String: String]
    public var body: [UInt8]

    public init(method: String = "POST", path: String, headers: [String: String], body: [UInt8]) {
        (self.method, self.path, self.headers, self.body) = (method, path, headers, body)
    }
}

/// An answer, not verified yet.
public struct ServiceAnswer: Sendable, Equatable {
    public var status: Int
    /// The fields by their names in lower case; fields of several lines are joined with a comma and a space.
    public var headers: [String: String]
    /// The body, without content coding.
    public var body: [UInt8]

    /// The largest body that the kit reads: entitlements to some ten thousand products.
    public static let largestBody = 4 << 20

    public init(status: Int, headers: [String: String], body: [UInt8]) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}
