public import EvidenceMint
public import Foundation
import NIOCore

/// The settings of a simulator, with defaults that work on a developer's machine.
public struct SimulatorConfiguration: Sendable {
    /// The address to listen on. Every client that reaches it has full access, so do not use it on an open network.
    public var host = "127.0.0.1"
    /// Names or addresses by which clients reach the simulator, in addition to `host` and the names of the loopback
    /// interface: the allowed values of the header `Host`. A request for any other host gets 421, so that a page in a
    /// browser cannot reach the simulator under its own host name (DNS rebinding).
    public var allowedHosts: [String] = []
    /// The port to listen on; 0 selects a free port.
    public var port = 8090
    /// HTTPS on a separate port, in addition to plain HTTP; nil for none.
    public var https: HTTPS?
    /// The SQLite file that keeps the state; nil keeps it in memory.
    public var database: String?
    /// The fixed time of the store's clock until it is moved; nil lets it run with the machine's clock.
    public var clock: Date?
    /// The environment names of apps that are added without their own.
    public var environmentNames = EnvironmentNames.apple
    /// The environment of customers that are added without one.
    public var customerEnvironment = StoreEnvironment.sandbox
    /// Called with all products when the store has opened, and before it answers whoever added one.
    public var onProducts: (@Sendable ([StoreProduct]) async -> Void)?
    /// The number of the first transaction; nil derives it from the machine's clock, so that a restart does not reuse
    /// ids that a server remembers. The same number, calls, authority and clock give the same content.
    public var firstTransaction: UInt64?
    /// The server that evidence is sent to on request (`http://HOST:PORT`); nil if there is none.
    public var server: String?
    /// The key for that server's `/v1/purchases`.
    public var serverKey: String?

    /// The server that evidence is sent to, if it is known only after the store has started; nil if it is not.
    public var target: EvidenceTarget?

    /// The apps that the store opens with, if it does not have them yet.
    public var shops: [SampleShop] = []

    /// The server that gets notifications, such as `http://127.0.0.1:8080/notifications/v2`; nil keeps the stored one,
    /// or sends none.
    public var notificationURL: String?
    /// Certificates in PEM that this server is trusted with, besides those of the machine.
    public var notificationTrustFile: String?
    /// The time for an attempt to send a notification, from the connection to the end of the answer.
    public var notificationTimeLimit = Duration.seconds(30)

    /// Follows the store's clock; nil if it is not followed.
    public var time: SimulatorTime?

    public init() {}

    public struct HTTPS: Sendable {
        /// The port to listen on; 0 selects a free port.
        public var port: Int
        /// Issues the certificates. Clients must trust its root.
        public var authority: ServerCertificateAuthority

        public init(port: Int, authority: ServerCertificateAuthority) {
            (self.port, self.authority) = (port, authority)
        }
    }

    /// The names and addresses in the certificate of HTTPS.
    var certifiedHosts: [String] {
        ["localhost", "127.0.0.1", "::1"]
            + ([host] + allowedHosts).filter { !["127.0.0.1", "localhost", "::1"].contains($0) }
    }
}

extension SimulatorConfiguration {
    /// The hosts that requests may name in addition to loopback names.
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

/// Describes in words why a simulator does not run.
public enum SimulatorFailure {
    /// The reason, and the action to take.
    ///
    /// - Parameter portOption: the option of the program that sets the port.
    public static func words(
        _ error: any Error, _ configuration: SimulatorConfiguration, portOption: String = "--port"
    ) -> String {
        if let error = error as? SimulatorConfigurationError { return error.description }
        if let error = error as? MintError { return error.description }
        guard let failure = error as? IOError else { return "the simulator stopped: \(NetworkFailure.words(error))" }
        switch failure.errnoCode {
        case EADDRINUSE:
            return
                "port \(configuration.port) is in use; choose another with \(portOption), or a free one with \(portOption) 0"
        case EACCES: return "port \(configuration.port) is not permitted; choose one above 1023 with \(portOption)"
        case EADDRNOTAVAIL: return "\(configuration.host) is not an address of this machine; choose another with --host"
        default: return "the simulator stopped: \(NetworkFailure.words(error))"
        }
    }
}
