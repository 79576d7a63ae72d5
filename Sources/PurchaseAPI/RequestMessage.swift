/// A request that is read from the members of a JSON object.
public protocol RequestMessage: Sendable {
    /// Whether unknown members are ignored with a warning. Apps that are newer than the server send such requests.
    static var ignoresUnknownMembers: Bool { get }

    /// Reads all members by name. If one is wrong, the request gets a default value, and the members have the flaw.
    init(members: inout RequestMembers)
}

extension RequestMessage {
    public static var ignoresUnknownMembers: Bool { false }
}
