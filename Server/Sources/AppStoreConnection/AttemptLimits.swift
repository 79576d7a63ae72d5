public import NIOCore

/// The time limits of the parts of one attempt. They are measured by the network's own clock.
public struct AttemptLimits: Sendable {
    /// Until the connection is established, including its encryption.
    public var connect: TimeAmount
    /// Between two pieces of the reply.
    public var read: TimeAmount
    /// The whole attempt.
    public var whole: TimeAmount

    public init(connect: TimeAmount = .seconds(3), read: TimeAmount = .seconds(8), whole: TimeAmount = .seconds(10)) {
        self.connect = connect
        self.read = read
        self.whole = whole
    }
}
