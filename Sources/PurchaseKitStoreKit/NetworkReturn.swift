#if canImport(StoreKit) && canImport(Network)
    import Foundation
    import Network

    /// Calls a closure each time that the network returns.
    ///
    /// Unchecked, because only the queue of the monitor uses what changes.
    final class NetworkReturn: @unchecked Sendable {
        private let monitor = NWPathMonitor()
        private var isReachable = true

        init(_ returned: @escaping @Sendable () -> Void) {
            monitor.pathUpdateHandler = { [weak self] path in
                guard let self else { return }
                let isReachable = path.status == .satisfied
                defer { self.isReachable = isReachable }
                if isReachable, !self.isReachable { returned() }
            }
            monitor.start(queue: DispatchQueue(label: "PurchaseKit.network"))
        }

        func end() { monitor.cancel() }
    }
#endif
