public import Foundation

/// The settings of a simulator, with defaults that work on a developer's machine.
public struct SimulatorConfiguration: Sendable {
    /// The address to listen on. Everybody who reaches it may do everything, so do not use it on an open network.
    public var host = "127.0.0.1"
    /// Names or addresses by which clients reach the simulator, in addition to `host` and the names of the loopback
    /// interface: the allowed values of the header `Host`. A request for any other host gets 421, so that a page in a
    /// browser cannot reach the simulator under its own host name (DNS rebinding).
    public var allowedHosts: [String] = []
    /// The port to listen on; 0 takes a free port.
    public var port = 8090
    /// The SQLite file that keeps the state; nil keeps it in memory.
    public var database: String?
    /// The fixed time of the store's clock until it is moved; nil lets it run with the machine's clock.
    public var clock: Date?
    /// The environment names of apps that are added without their own.
    public var environmentNames = EnvironmentNames.simulator

    /// The defaults.
    public init() {}
}

/// The reasons why a simulator cannot be built from its settings.
public enum SimulatorConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A host that is allowed is neither a name nor an address.
    case invalidHost(String)

    /// The reason in words.
    public var description: String {
        switch self {
        case .invalidHost(let text):
            "'\(text)' is not a host; give a name or an address without scheme and port, such as appstore.test"
        }
    }
}

extension SimulatorConfiguration {
    /// The hosts that requests may name besides loopback names.
    /// - Throws: `SimulatorConfigurationError`.
    func hostNames() throws(SimulatorConfigurationError) -> [HostName] {
        var hosts: [HostName] = []
        for text in [host] + allowedHosts {
            guard let host = HostName(name: text.utf8) else { throw .invalidHost(text) }
            hosts.append(host)
        }
        return hosts
    }
}
