import NIOCore
import Synchronization

/// Counts the open connections of each address, so that no one address takes all that there are.
final class ConnectionLimiter: Sendable {
    private let limit: Int
    private let exempt: [AddressRange]
    /// By the bytes of the address, or of the /64 network of an IPv6 address.
    private let open = Mutex<[[UInt8]: Int]>([:])

    /// - Parameters:
    ///   - limit: how many connections one address may have at the same time.
    ///   - exempt: addresses that are not counted, such as proxies, which carry the connections of everybody.
    init(limit: Int, exempt: [AddressRange]) {
        self.limit = limit
        self.exempt = exempt
    }

    /// Whether the connection may be used; then it is counted until it closes.
    func admit(_ channel: any Channel) -> Bool {
        guard let text = channel.remoteAddress?.ipAddress, let address = AddressRange.bytes(of: text),
            !exempt.contains(where: { $0.contains(address) })
        else { return true }
        let network = AddressRange.network(of: address)
        let isAdmitted = open.withLock { open in
            let count = open[network, default: 0]
            guard count < limit else { return false }
            open[network] = count + 1
            return true
        }
        if isAdmitted { channel.closeFuture.whenComplete { _ in self.close(network) } }
        return isAdmitted
    }

    private func close(_ network: [UInt8]) {
        open.withLock { open in
            let count = open[network, default: 1] - 1
            open[network] = count == 0 ? nil : count
        }
    }
}
