public import Foundation
public import Hummingbird
public import Logging
public import PurchaseLedger
public import ServiceLifecycle

/// Builds the server as an application that can be run, or tested in the same process.
///
/// - Parameters:
///   - configuration: the settings.
///   - desk: asks the App Store about claims; it must be among the services.
///   - logger: where to log; messages are constant, facts are metadata, and no secret or receipt is among them.
///   - ledger: where purchases are recorded; without one the server answers only `verifyReceipt`.
///   - services: services that run beside the server and end after it, such as the sealing of the record.
///   - onReady: called once with the address, when the server accepts connections.
///   - uptime: seconds since any moment, never going back; rate limits are measured with it.
public func purchaseServer(
    _ configuration: ServerConfiguration, ledger: PurchaseLedger? = nil, desk: AppStoreDesk? = nil, logger: Logger,
    services: [any Service] = [],
    onReady: @escaping @Sendable (String) async -> Void = { _ in },
    uptime: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime }
) -> some ApplicationProtocol {
    ReloadableServer(configuration, ledger: ledger, desk: desk, uptime: uptime)
        .application(logger: logger, services: services, onReady: onReady)
}
