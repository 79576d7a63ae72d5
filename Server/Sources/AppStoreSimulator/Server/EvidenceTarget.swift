import Synchronization

/// The server that the store sends evidence to. It can be named after the store has started, because the two may need each
/// other's address.
public final class EvidenceTarget: Sendable {
    private let named = Mutex<EvidenceDelivery?>(nil)

    public init() {}

    /// Names the server.
    ///
    /// - Parameters:
    ///   - address: `http://HOST:PORT`.
    ///   - key: for its `/v1/purchases`.
    ///   - keys: for apps that have their own key, by bundle id.
    /// - Throws: `SimulatorConfigurationError`.
    public func set(
        _ address: String, key: String?, keys: [String: String] = [:]
    ) throws(SimulatorConfigurationError) {
        let delivery = try EvidenceDelivery(address, key: key, keys: keys)
        named.withLock { $0 = delivery }
    }

    var delivery: EvidenceDelivery? { named.withLock { $0 } }

    var address: String? { delivery?.address }
}
