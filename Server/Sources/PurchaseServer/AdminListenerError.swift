import Foundation
import NIOCore

/// Why the listener for operators does not run.
public struct AdminListenerError: Error, CustomStringConvertible {
    /// The error and what to do.
    public let description: String

    init(_ error: any Error, _ address: AdminAddress) {
        let remedy = "choose another in server.admin (--admin), or turn it off with --admin off"
        let (code, fault) =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE:
                ("admin_address_in_use", "\(address) is in use, probably by another server on this machine; \(remedy)")
            case EACCES: ("admin_address_refused", "\(address) is not permitted; \(remedy)")
            case EADDRNOTAVAIL: ("admin_address_refused", "\(address) is not an address of this machine; \(remedy)")
            default: ("admin_address_refused", "\(address) cannot be listened on (\(error)); \(remedy)")
            }
        description = "\(code): the address for metrics and health, \(fault)"
    }

    /// What a program says that found the address taken before the start.
    public static func words(_ error: any Error, _ address: AdminAddress) -> String {
        AdminListenerError(error, address).description
    }
}
