import EvidenceMint
import Foundation

/// The whole state of a simulator: the store, its clock, the issued evidence, and what testers and developers set.
struct ServiceState: Sendable {
    var store: AppStore
    var evidence = StoreTable<IssuedEvidence>()
    var clock: StoreClock
    var notifications = StoreTable<ScheduledNotification>()
    var settings = Settings()
    /// The requests of the last seconds; not stored.
    var limits = ServerAPILimits()
    /// When the evidence that devices have was signed last, with a hash of its content; not stored.
    private var signings: [String: (content: Int, date: Date?)] = [:]
    /// The moment when a fault asked for stale answers; not stored.
    var frozen: FrozenStore?
    /// The number of changes of content since the simulator started. Time alone does not count.
    private(set) var revision = 0

    /// Everything that is not in a table.
    struct Settings: Codable, Equatable, Sendable {
        var answerFaults: [AnswerFault] = []
        var evidenceFaults: [EvidenceFault] = []
        var certificateFaults: [CertificateFault] = []
        var payments = PendingPayments()
        var notifications = NotificationSettings()
        var serverAPI = ServerAPIState()
    }

    init(clock: StoreClock, firstTransaction: UInt64) {
        store = AppStore(startingAt: clock.storeTime, firstTransaction: firstTransaction)
        self.clock = clock
    }

    /// Deletes all content. Identifiers are not reused.
    mutating func reset(_ world: Date, to initialClock: StoreClock) {
        store.state.removeAll(now: initialClock.rate == 0 ? initialClock.storeTime : world.inWholeSeconds)
        evidence.removeAll()
        notifications.removeAll()
        let addresses = (settings.notifications.url, settings.notifications.sandboxAddress)
        settings = Settings()
        (settings.notifications.url, settings.notifications.sandboxAddress) = addresses
        (limits, frozen, signings) = (ServerAPILimits(), nil, [:])
        setClock(world, rate: initialClock.rate)
    }

    /// Advances the store to the time of its clock.
    mutating func catchUp(_ world: Date) throws(StoreError) {
        // A running clock stops at its last time; everything else still works there.
        let target = min(clock.now(world), AppStore.lastDate).inWholeSeconds
        guard target > store.now else { return }
        try store.moveClock(to: target, stopsEarly: true)
        // Stopped early: the rest is for the next time.
        if store.now < target { clock = StoreClock(storeTime: store.now, worldTime: world, rate: clock.rate) }
    }

    /// Runs a change, and counts it if it changed rows or settings.
    mutating func counting<Value>(_ body: (inout ServiceState) throws -> Value) rethrows -> Value {
        let before = (changeCount, settings)
        let value = try body(&self)
        if before != (changeCount, settings) { revision += 1 }
        return value
    }

    /// The number of rows that changed since the changes were last written.
    private var changeCount: Int { store.state.changeCount + notifications.changedKeys.count }

    mutating func moveClock(to date: Date, _ world: Date) throws(StoreError) {
        try store.moveClock(to: date)
        setClock(world)
    }

    /// Sets the clock to the store's time, after the store itself has moved.
    mutating func setClock(_ world: Date, rate: Double? = nil) {
        clock = StoreClock(storeTime: store.now, worldTime: world, rate: rate ?? clock.rate)
    }

    /// Gives evidence for a device the date of the last signing if nothing else in it has changed since: the App Store
    /// does not sign it anew for each look.
    /// - Parameter name: the evidence, which is otherwise the same at each look.
    mutating func keepDate<Template: Hashable>(
        of template: inout Template, _ date: WritableKeyPath<Template, Date?>, _ name: String
    ) {
        let signedAt = template[keyPath: date]
        template[keyPath: date] = nil
        let content = template.hashValue
        if signings[name]?.content != content { signings[name] = (content, signedAt) }
        template[keyPath: date] = signings[name]?.date
    }

    /// Takes the next fault for a kind of evidence.
    mutating func takeFault(_ kind: EvidenceFault.Kind) -> String? {
        EvidenceFault.take(from: &settings.evidenceFaults) { $0.kind == kind }?.fault
    }

    mutating func removeFaults() {
        (settings.answerFaults, settings.evidenceFaults, settings.certificateFaults) = ([], [], [])
        (settings.notifications.faults, settings.serverAPI.faults) = ([], [])
        frozen = nil
    }
}

// MARK: Storage

extension ServiceState {
    /// The row of the table of settings.
    private struct SettingsRow: Codable, Equatable {
        var summary: StoreState.Summary
        var clock: StoreClock
        var settings: Settings
    }

    private static let settingsKey = "simulator"

    /// The stored state; nil if nothing is stored.
    init?(_ tables: [StateTable: [String: Data]]) throws {
        guard let data = tables[.settings]?[Self.settingsKey] else { return nil }
        let row = try StoreJSON.decode(SettingsRow.self, from: data)
        var state = StoreState(now: row.summary.now)
        state.summary = row.summary
        state.apps = try Self.table(tables[.apps])
        state.products = try Self.table(tables[.products])
        state.customers = try Self.table(tables[.customers])
        state.transactions = StoreTable(try Self.rows(tables[.transactions]), groupedBy: \.owner)
        state.subscriptions = StoreTable(try Self.rows(tables[.subscriptions]), groupedBy: \.owner)
        state.receipts = StoreTable(try Self.rows(tables[.receipts]), groupedBy: \.appTransactionID)
        state.events = try Self.table(tables[.events])
        store = AppStore(state: state)
        evidence = try Self.table(tables[.evidence])
        clock = row.clock
        settings = row.settings
        notifications = try Self.table(tables[.notifications])
    }

    private static func table<Row: Codable & Equatable & Sendable>(_ rows: [String: Data]?) throws -> StoreTable<Row> {
        StoreTable(try Self.rows(rows))
    }

    private static func rows<Row: Decodable>(_ rows: [String: Data]?) throws -> [String: Row] {
        try (rows ?? [:]).mapValues { try StoreJSON.decode(Row.self, from: $0) }
    }

    /// The changes since they were last written.
    /// - Parameter previous: the state then.
    func changes(since previous: ServiceState?) throws -> [StateChange] {
        let state = store.state
        var changes: [StateChange] = []
        try Self.add(.apps, state.apps, to: &changes)
        try Self.add(.products, state.products, to: &changes)
        try Self.add(.customers, state.customers, to: &changes)
        try Self.add(.transactions, state.transactions, to: &changes)
        try Self.add(.subscriptions, state.subscriptions, to: &changes)
        try Self.add(.receipts, state.receipts, to: &changes)
        try Self.add(.events, state.events, to: &changes)
        try Self.add(.evidence, evidence, to: &changes)
        try Self.add(.notifications, notifications, to: &changes)
        if previous?.settingsRow != settingsRow {
            changes.append(
                StateChange(table: .settings, key: Self.settingsKey, content: try StoreJSON.encode(settingsRow)))
        }
        return changes
    }

    mutating func forgetChanges() {
        store.state.forgetChanges()
        evidence.forgetChanges()
        notifications.forgetChanges()
    }

    private var settingsRow: SettingsRow {
        SettingsRow(summary: store.state.summary, clock: clock, settings: settings)
    }

    private static func add<Row>(_ name: StateTable, _ table: StoreTable<Row>, to changes: inout [StateChange]) throws {
        for key in table.changedKeys.sorted() {
            changes.append(
                StateChange(table: name, key: key, content: try table[key].map { try StoreJSON.encode($0) }))
        }
    }
}

/// The relation of store time to real time: stopped, in step, or faster.
struct StoreClock: Codable, Equatable, Sendable {
    /// The store time at the reference point.
    var storeTime: Date
    /// The real time at the reference point.
    var worldTime: Date
    /// Seconds of store time per second of real time; 0 means that the clock is stopped.
    var rate: Double

    /// The store time at a real time.
    func now(_ world: Date) -> Date {
        let elapsed = max(0, world.timeIntervalSince(worldTime))
        return storeTime.addingTimeInterval(elapsed * rate)
    }

    /// Ten years of the store in a second are the fastest.
    static let fastestRate = 10.0 * 366 * 86_400
}

/// A store and its notifications as they were at one moment.
struct FrozenStore: Sendable {
    var store: AppStore
    var notifications: StoreTable<ScheduledNotification>
}
