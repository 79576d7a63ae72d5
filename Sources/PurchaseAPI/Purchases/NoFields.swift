/// The body of a request that has no fields; it may be empty.
public struct NoFields: Codable, Sendable, Equatable {
    /// A body without fields.
    public init() {}
}

extension NoFields: RequestMessage {
    public init(members: inout RequestMembers) {}
}
