import NIOCore
import Synchronization

/// Counts the open connections of each address, so that no single address takes all of them.
final class ConnectionLimiter: Sendable {
    private let state: Mutex<State>

    private struct State {
        var limit: Int
        var exempt: [AddressRange]
        /// By the bytes of the address, or of the /64 network of an IPv6 address.
        var open: [[UInt8]: Int] = [:]
    }

    /// - Parameters:
    ///   - limit: how many connections one address may have at the same time.
    ///   - exempt: addresses that are not counted, such as proxies, which carry the connections of many clients.
    init(limit: Int, exempt: [AddressRange]) {
        state = Mutex(State(limit: limit, exempt: exempt))
    }

    /// Changes the limit of later connections. Open connections stay.
    func limit(to limit: Int, exempt: [AddressRange]) {
        state.withLock { ($0.limit, $0.exempt) = (limit, exempt) }
    }

    /// Whether the connection may be used; if so, it is counted until it closes.
    func admit(_ channel: any Channel) -> Bool {
        guard let address = channel.remoteAddress.flatMap(AddressRange.bytes) else {
            return true
        }
        let network = AddressRange.network(of: address)
        let (isAdmitted, isCounted) = state.withLock { state in
            guard !state.exempt.contains(where: { $0.contains(address) }) else { return (true, false) }
            let count = state.open[network, default: 0]
            guard count < state.limit else { return (false, false) }
            state.open[network] = count + 1
            return (true, true)
        }
        if isCounted { channel.closeFuture.whenComplete { _ in self.close(network) } }
        return isAdmitted
    }

    private func close(_ network: [UInt8]) {
        state.withLock { state in
            let count = state.open[network, default: 1] - 1
            state.open[network] = count == 0 ? nil : count
        }
    }
}
