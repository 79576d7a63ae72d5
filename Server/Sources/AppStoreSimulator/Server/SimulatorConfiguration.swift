public import Foundation

/// The settings of a simulator, with defaults that work on a developer's machine.
public struct SimulatorConfiguration: Sendable {
    /// The address to listen on. Whoever reaches it may do everything; it is not meant for an open network.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 takes a free one.
    public var port = 8090
    /// The SQLite file that keeps the state; nil keeps it in memory.
    public var database: String?
    /// Where the store's clock stands at first, and goes on standing until it is moved; nil lets it run with the world's.
    public var clock: Date?
    /// What apps call their environments unless they are told otherwise when they are added.
    public var environmentNames = EnvironmentNames.simulator

    /// The defaults.
    public init() {}
}
