import Foundation
import PurchaseLedger
import PurchaseVerification

/// The limits of requests to `/v1` in a time.
struct AccessLimits: Sendable {
    /// By address, for any key.
    let addresses: RateLimiter
    /// By address and key.
    let shares: RateLimiter
    /// By network and key.
    let networks: RateLimiter
    /// By key.
    let keys: RateLimiter

    init(_ limits: ServerConfiguration.Limits, uptime: @escaping @Sendable () -> Double) {
        addresses = RateLimiter(limits.perAddress, uptime: uptime)
        shares = RateLimiter(limits.perAddressOfKey, uptime: uptime)
        networks = RateLimiter(limits.perNetworkOfKey, uptime: uptime)
        keys = RateLimiter(limits.perKey, uptime: uptime)
    }

    private static let appKey = "a key of apps, which others share; a backend has a key of the scope backend"

    /// The limits that a request with a key takes tokens of, each with its name for people and its setting.
    func parts(
        _ id: [UInt8], _ share: [UInt8], _ network: [UInt8], isShared: Bool
    ) -> [(limiter: RateLimiter, name: [UInt8], whose: String, setting: String)] {
        let ofKey = (limiter: keys, name: id, whose: "this key", setting: "limits.per_key")
        guard isShared else { return [ofKey] }
        return [
            (shares, share, "this address with \(Self.appKey)", "limits.per_key.address_percent"),
            (networks, network, "this network with \(Self.appKey)", "limits.per_key.network_percent"),
            ofKey,
        ]
    }

    /// Changes the limits and keeps the counts.
    func limit(to limits: ServerConfiguration.Limits) {
        addresses.limit(to: limits.perAddress)
        shares.limit(to: limits.perAddressOfKey)
        networks.limit(to: limits.perNetworkOfKey)
        keys.limit(to: limits.perKey)
    }
}
