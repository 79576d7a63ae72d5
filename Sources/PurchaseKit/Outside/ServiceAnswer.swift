/// An answer, not verified yet.
public struct ServiceAnswer: Sendable, Equatable {
    public var status: Int
    /// The fields by their names in lower case; fields of several lines are joined with a comma and a space.
    public var headers: [String: String]
    /// The body, without content coding.
    public var body: [UInt8]

    /// The largest body that the kit reads: entitlements to some ten thousand products.
    public static let largestBody = 4 << 20

    /// An answer by its parts.
    public init(status: Int, headers: [String: String], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
