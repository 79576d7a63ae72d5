import HTTPConnections
import NIOCore
import Synchronization

/// Counts the open connections, of each address and network and of all, so that nobody takes all of them.
///
/// When all are taken, the connection that has waited longest for a request is closed for the new one. If none waits, a
/// new connection gets a place in a reserve, where only the routes of monitors are answered.
final class ConnectionLimiter: Sendable {
    /// Connections beyond the limit of all, for `/healthz` and `/readyz`: more than the monitors of one server have.
    static let reserve = 64

    private let state: Mutex<State>

    /// How many connections may be open.
    struct Limits {
        var all: Int
        /// Of one IPv4 address, or the /64 network of an IPv6 address.
        var perAddress: Int
        /// Of one /24 network of IPv4, or a /48 network of IPv6.
        var perNetwork: Int
        /// Addresses that are not counted by address, such as proxies, which carry the connections of many clients.
        var exempt: [AddressRange]

        init(_ limits: ServerConfiguration.Limits, trustedProxies: [AddressRange]) {
            all = limits.connections
            perAddress = limits.connectionsPerAddress
            perNetwork = limits.connectionsPerNetwork
            exempt = limits.uncountedAddresses + trustedProxies
        }
    }

    /// Whether a connection may be used.
    enum Admission {
        case admitted(ConnectionActivity)
        /// Only for the routes of monitors, and for one request.
        case reserved
        case refused
    }

    fileprivate struct State {
        var limits: Limits
        /// By the bytes of the address or network; networks of different sizes have keys of different lengths.
        var counts: [[UInt8]: Int] = [:]
        /// The connections in the limit of all.
        var open: [ObjectIdentifier: Open] = [:]
        var reserved = 0
    }

    fileprivate struct Open {
        let channel: any Channel
        let activity: ConnectionActivity
    }

    init(_ limits: Limits) {
        state = Mutex(State(limits: limits))
    }

    /// The number of open connections.
    var openCount: Int { state.withLock { $0.open.count + $0.reserved } }

    /// Changes the limits of later connections. Open connections stay. The number of all connections needs a restart.
    func limit(to limits: Limits) {
        state.withLock { state in
            let all = state.limits.all
            state.limits = limits
            state.limits.all = all
        }
    }

    /// Decides about a new connection, and counts it until it closes.
    func admit(_ channel: any Channel) -> Admission {
        let address = channel.remoteAddress.flatMap(AddressRange.bytes)
        let (admission, counted, evicted) = state.withLock { state in
            var counted: [[UInt8]] = []
            if let address, !state.limits.exempt.contains(where: { $0.contains(address) }) {
                let (host, network) = (AddressRange.network(of: address), AddressRange.widerNetwork(of: address))
                guard state.counts[host, default: 0] < state.limits.perAddress,
                    state.counts[network, default: 0] < state.limits.perNetwork
                else { return (Admission.refused, counted, (any Channel)?.none) }
                counted = [host, network]
            }
            var evicted: (any Channel)?
            if state.open.count >= state.limits.all {
                guard let oldest = state.longestWaiting() else {
                    guard state.reserved < Self.reserve else { return (.refused, [], nil) }
                    state.reserved += 1
                    state.count(counted, by: 1)
                    return (.reserved, counted, nil)
                }
                evicted = state.open.removeValue(forKey: oldest)?.channel
            }
            state.count(counted, by: 1)
            let activity = ConnectionActivity()
            state.open[ObjectIdentifier(channel)] = Open(channel: channel, activity: activity)
            return (.admitted(activity), counted, evicted)
        }
        evicted?.close(promise: nil)
        switch admission {
        case .refused: break
        case .reserved: channel.closeFuture.whenComplete { _ in self.close(channel, counted, isReserved: true) }
        case .admitted: channel.closeFuture.whenComplete { _ in self.close(channel, counted, isReserved: false) }
        }
        return admission
    }

    private func close(_ channel: any Channel, _ counted: [[UInt8]], isReserved: Bool) {
        state.withLock { state in
            state.count(counted, by: -1)
            if isReserved { state.reserved -= 1 } else { state.open[ObjectIdentifier(channel)] = nil }
        }
    }
}

extension ConnectionLimiter.State {
    fileprivate mutating func count(_ keys: [[UInt8]], by change: Int) {
        for key in keys {
            let count = counts[key, default: 0] + change
            counts[key] = count == 0 ? nil : count
        }
    }

    /// The connection that has waited longest for a request. It looks at each, which takes some microseconds, and only
    /// when all are taken.
    fileprivate func longestWaiting() -> ObjectIdentifier? {
        var oldest: (id: ObjectIdentifier, since: UInt64)?
        for (id, connection) in open {
            guard let since = connection.activity.idleSince else { continue }
            if oldest.map({ since < $0.since }) ?? true { oldest = (id, since) }
        }
        return oldest?.id
    }
}
