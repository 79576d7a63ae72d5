import EvidenceMint
import Foundation
import NIOCore

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
        case EADDRNOTAVAIL:
            return "\(configuration.host) is not an address of this machine; choose another with --host"
        default: return "the simulator stopped: \(NetworkFailure.words(error))"
        }
    }
}
