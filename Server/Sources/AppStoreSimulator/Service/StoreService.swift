import EvidenceMint
public import Foundation
import Synchronization

/// The only place where the state changes: each call succeeds as a whole or changes nothing, and is stored before it is
/// answered.
actor StoreService {
    nonisolated let issuer: EvidenceIssuer
    /// The environment names of apps that are added without their own.
    nonisolated let environmentNames: EnvironmentNames
    private let storage: any StateStorage
    private let world: @Sendable () -> Date
    /// Follows the store's clock.
    private let time: SimulatorTime?
    private let initialClock: StoreClock
    private var current: ServiceState
    /// Distinguishes the revisions of this process from those of an earlier one.
    nonisolated let instance: String
    /// Has an element when a notification may have become due.
    nonisolated let notices: AsyncStream<Void>
    private let notice: AsyncStream<Void>.Continuation
    /// The keys of notifications that are being sent.
    private var sent: Set<String> = []

    /// Loads the stored state, or begins a new one.
    /// - Parameters:
    ///   - clock: the initial time of the store's stopped clock; nil lets it run with the real clock.
    ///   - firstTransaction: the number of the first transaction of a new state; nil derives it from the real time, so
    ///     that a
    ///     restart does not reuse the ids of the run before it.
    ///   - notificationURL: the server that gets notifications, in place of the stored one.
    ///   - time: follows the store's clock.
    ///   - world: the real clock.
    init(
        authority: AppStoreAuthority, storage: any StateStorage, clock: Date?, firstTransaction: UInt64?,
        environmentNames: EnvironmentNames, notificationURL: String? = nil, time: SimulatorTime? = nil,
        world: @escaping @Sendable () -> Date
    ) throws {
        issuer = EvidenceIssuer(authority: authority)
        (self.environmentNames, self.storage, self.world, self.time) = (environmentNames, storage, world, time)
        (notices, notice) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let now = world()
        instance = String(UInt64(max(0, now.timeIntervalSince1970 * 1000)), radix: 36)
        initialClock = StoreClock(storeTime: (clock ?? now).inWholeSeconds, worldTime: now, rate: clock == nil ? 1 : 0)
        if let kept = try ServiceState(try storage.load()) {
            current = kept
        } else {
            current = ServiceState(
                clock: initialClock, firstTransaction: firstTransaction ?? Self.firstTransaction(at: now))
            try storage.save(try current.changes(since: nil))
        }
        if let notificationURL, notificationURL != current.settings.notifications.url {
            let earlier = current
            current.settings.notifications.url = notificationURL
            try storage.save(try current.changes(since: earlier))
        }
        time?.follow(current.clock)
    }

    /// Changes the state, or leaves it unchanged if the body throws.
    func change<Value: Sendable>(_ body: @Sendable (inout ServiceState, Date) throws -> Value) throws -> Value {
        let world = world()
        var next = current
        try next.counting { try $0.catchUp(world) }
        let value = try next.counting { try body(&$0, world) }
        next.counting { $0.scheduleNotifications(after: current.store.state.summary.events) }
        next.store.numberChanges(since: current.store)
        if storage.keepsRows { try storage.save(try next.changes(since: current)) }
        next.forgetChanges()
        current = next
        time?.follow(next.clock)
        if next.settings.notifications.url != nil { notice.yield() }
        return value
    }

    /// Takes the fault of the certificate of a new connection.
    func takeCertificateFault() throws -> CertificateFault.Kind? {
        // Without a fault there is nothing to store.
        current.settings.certificateFaults.isEmpty
            ? nil
            : try change { state, _ in
                CertificateFault.take(from: &state.settings.certificateFaults)?.fault
            }
    }

    /// A hundred numbers for each millisecond of real time: more than the store can sell.
    private static func firstTransaction(at world: Date) -> UInt64 {
        UInt64(max(0, world.timeIntervalSince1970 * 1000)) * 100
    }

    /// Deletes all content, with the clock at its initial time.
    func reset() throws {
        let initialClock = initialClock
        try change { state, world in state.reset(world, to: initialClock) }
    }
}

// MARK: Notifications

extension StoreService {
    /// Sets the server that gets notifications; nil for none.
    func setNotificationURL(_ url: String?) throws {
        try change { state, _ in state.settings.notifications.url = url }
    }

    /// Takes notifications that are due, in the order in which they are sent. They are not taken again until their
    /// attempts are recorded.
    func takeDueNotifications(limit: Int) throws -> [OutgoingNotification] {
        guard limit > 0, untilDue().map({ $0 <= .zero }) ?? false else { return [] }
        let sent = sent
        let due = try change { state, _ in state.dueNotifications(except: sent, limit: limit) }
        self.sent.formUnion(due.map(\.key))
        return due
    }

    /// Records attempts, whose notifications may then be taken again.
    func record(_ attempts: [(key: String, attempt: SendAttempt)]) throws {
        defer { for attempt in attempts { sent.remove(attempt.key) } }
        try change { state, _ in state.record(attempts) }
    }

    /// The number of notifications that are being sent.
    var sentCount: Int { sent.count }

    /// Whether no notification is being sent, and none is due.
    var isDelivered: Bool { sent.isEmpty && (untilDue().map { $0 > .zero } ?? true) }

    /// The real time until a notification is due, or until a subscription falls due, which may cause one; nil if that
    /// depends on a change of the clock.
    func untilDue() -> Duration? {
        guard current.settings.notifications.url != nil else { return nil }
        let now = current.clock.now(world())
        let attempt = current.earliestAttempt(except: sent)
        if let attempt, attempt <= now { return .zero }
        guard current.clock.rate > 0 else { return nil }
        let renewal = current.store.state.subscriptions.values.lazy.compactMap(\.dueDate).min()
        guard let next = [attempt, renewal].compactMap(\.self).min() else { return nil }
        return .seconds(max(0, next.timeIntervalSince(now) / current.clock.rate))
    }
}

/// The time of a simulated store, for others that follow its clock: a server in the same process, so that time passes
/// in the same way for both.
public final class SimulatorTime: Sendable {
    private let clock = Mutex<StoreClock?>(nil)

    public init() {}

    /// The time of the store's clock; that of the machine until the store has one.
    public var now: Date {
        let world = Date()
        return clock.withLock { $0?.now(world) ?? world }
    }

    func follow(_ clock: StoreClock) { self.clock.withLock { $0 = clock } }
}

/// An app with products, for a store that opens with something to buy.
public struct SampleShop: Sendable {
    public var bundleID: String
    /// The App Store's number of the app; nil takes the next free number.
    public var appID: UInt64?
    /// The secret that `verifyReceipt` requires; nil requires none.
    public var sharedSecret: String?
    /// The products by id; nil for coins, a lasting product and a subscription by the month.
    public var products: [String: StoreProduct.Kind]?

    public init(bundleID: String) { self.bundleID = bundleID }
}

extension ServiceState {
    /// Adds what the store does not have yet: the app, its products, and the customer `alice`.
    mutating func open(_ shop: SampleShop, _ names: EnvironmentNames) throws {
        guard let month = StorePeriod(1, .month) else { return }
        let bundleID = shop.bundleID
        if store.state.apps[bundleID] == nil {
            try store.addApp(
                bundleID: bundleID, appID: shop.appID, sharedSecret: shop.sharedSecret, gracePeriodDays: 16,
                environmentNames: names)
        }
        if store.state.customers["alice"] == nil { try store.addCustomer("alice", environment: .production) }
        func isMissing(_ productID: String) -> Bool {
            store.state.products[StoreState.key(bundleID, productID)] == nil
        }
        guard let products = shop.products else {
            let terms = StoreProduct.Terms(groupID: "club", period: month)
            let standard: [(String, StoreProduct.Kind, price: Int64, StoreProduct.Terms?)] = [
                ("coins", .consumable, 990, nil), ("pro", .nonConsumable, 9990, nil),
                ("monthly", .autoRenewable, 4990, terms),
            ]
            for (productID, kind, price, terms) in standard where isMissing(productID) {
                try store.addProduct(
                    bundleID: bundleID, productID: productID, kind: kind, price: price,
                    isFamilyShareable: kind == .nonConsumable, subscription: terms)
            }
            return
        }
        for (productID, kind) in products.sorted(by: { $0.key < $1.key }) where isMissing(productID) {
            // Settings do not state the terms of a subscription. Each is its own group, so that all can be bought
            // together.
            let terms = StoreProduct.Terms(groupID: productID, period: month)
            try store.addProduct(
                bundleID: bundleID, productID: productID, kind: kind,
                subscription: kind == .autoRenewable ? terms : nil)
        }
    }
}
