import EvidenceMint
import Foundation

/// The whole state of a simulator: the store, its clock, the issued evidence, and the pending faults.
struct ServiceState: Sendable {
    var store: AppStore
    var evidence = StoreTable<IssuedEvidence>()
    var clock: StoreClock
    var answerFaults: [AnswerFault] = []
    var evidenceFaults: [EvidenceFault] = []
    var certificateFaults: [CertificateFault] = []
    var payments = PendingPayments()
    var notificationSettings = NotificationSettings()
    var notifications = StoreTable<ScheduledNotification>()
    var serverAPI = ServerAPIState()
    /// The requests of the last seconds; not stored.
    var limits = ServerAPILimits()
    /// The moment when a fault asked for stale answers; not stored.
    var frozen: FrozenStore?
    /// The number of changes of content since the simulator started. Time alone does not count.
    private(set) var revision = 0

    /// A new state.
    init(clock: StoreClock, firstTransaction: UInt64) {
        store = AppStore(startingAt: clock.storeTime, firstTransaction: firstTransaction)
        self.clock = clock
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

    /// Runs a change, and counts it if it changed rows or faults.
    mutating func counting<Value>(_ body: (inout ServiceState) throws -> Value) rethrows -> Value {
        let before = (changeCount, answerFaults, evidenceFaults, certificateFaults, payments, notificationSettings)
        let serverAPIBefore = serverAPI
        let value = try body(&self)
        let after = (changeCount, answerFaults, evidenceFaults, certificateFaults, payments, notificationSettings)
        if before != after || serverAPIBefore != serverAPI { revision += 1 }
        return value
    }

    /// The number of rows that changed since the changes were last written.
    private var changeCount: Int { store.state.changeCount + notifications.changedKeys.count }

    /// Moves the store's clock.
    mutating func moveClock(to date: Date, _ world: Date) throws(StoreError) {
        try store.moveClock(to: date)
        setClock(world)
    }

    /// Sets the clock to the store's time, after the store itself has moved.
    mutating func setClock(_ world: Date, rate: Double? = nil) {
        clock = StoreClock(storeTime: store.now, worldTime: world, rate: rate ?? clock.rate)
    }

    /// Takes the next fault for a kind of evidence.
    mutating func takeFault(_ kind: EvidenceFault.Kind) -> String? {
        guard let index = evidenceFaults.firstIndex(where: { $0.kind == kind }) else { return nil }
        let fault = evidenceFaults[index].fault
        evidenceFaults[index].count -= 1
        if evidenceFaults[index].count <= 0 { evidenceFaults.remove(at: index) }
        return fault
    }

    /// Takes the next fault for an answer, by the store's clock.
    mutating func takeAnswerFault() -> AnswerFault? {
        let now = store.now
        return AnswerFault.take(from: &answerFaults, at: now)
    }

    /// Takes the next fault for the certificate of a connection.
    mutating func takeCertificateFault() -> CertificateFault.Kind? {
        guard let fault = certificateFaults.first?.fault else { return nil }
        certificateFaults[0].count -= 1
        if certificateFaults[0].count <= 0 { certificateFaults.removeFirst() }
        return fault
    }

    /// Forgets all faults.
    mutating func removeFaults() {
        answerFaults = []
        evidenceFaults = []
        certificateFaults = []
        notificationSettings.faults = []
        serverAPI.faults = []
        frozen = nil
    }
}

// MARK: Storage

extension ServiceState {
    private struct Settings: Codable, Equatable {
        var summary: StoreState.Summary
        var clock: StoreClock
        var answerFaults: [AnswerFault]
        var evidenceFaults: [EvidenceFault]
        /// Absent in files of older versions.
        var certificateFaults: [CertificateFault]?
        /// Absent in the state of an older version.
        var payments: PendingPayments?
        /// Absent in the state of an older version.
        var notifications: NotificationSettings?
        /// Absent in the state of an older version.
        var serverAPI: ServerAPIState?

        enum CodingKeys: String, CodingKey {
            case summary, clock, answerFaults, evidenceFaults, certificateFaults, payments, notifications
            // The storage would not read a name in capitals again.
            case serverAPI = "serverApi"
        }
    }

    private static let settingsKey = "simulator"

    /// The stored state; nil if nothing is stored.
    init?(_ tables: [StateTable: [String: Data]]) throws {
        guard let data = tables[.settings]?[Self.settingsKey] else { return nil }
        let settings = try StoreJSON.decode(Settings.self, from: data)
        var state = StoreState(now: settings.summary.now)
        state.summary = settings.summary
        state.apps = try Self.table(tables[.apps])
        state.products = try Self.table(tables[.products])
        state.customers = try Self.table(tables[.customers])
        state.transactions = StoreTable(try Self.rows(tables[.transactions]), groupedBy: \.owner)
        state.subscriptions = StoreTable(try Self.rows(tables[.subscriptions]), groupedBy: \.owner)
        state.receipts = StoreTable(try Self.rows(tables[.receipts]), groupedBy: \.appTransactionID)
        state.events = try Self.table(tables[.events])
        store = AppStore(state: state)
        evidence = try Self.table(tables[.evidence])
        clock = settings.clock
        answerFaults = settings.answerFaults
        evidenceFaults = settings.evidenceFaults
        certificateFaults = settings.certificateFaults ?? []
        payments = settings.payments ?? PendingPayments()
        notificationSettings = settings.notifications ?? NotificationSettings()
        notifications = try Self.table(tables[.notifications])
        serverAPI = settings.serverAPI ?? ServerAPIState()
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
        if previous?.settings != settings {
            changes.append(
                StateChange(table: .settings, key: Self.settingsKey, content: try StoreJSON.encode(settings)))
        }
        return changes
    }

    mutating func forgetChanges() {
        store.state.forgetChanges()
        evidence.forgetChanges()
        notifications.forgetChanges()
    }

    private var settings: Settings {
        Settings(
            summary: store.state.summary, clock: clock, answerFaults: answerFaults, evidenceFaults: evidenceFaults,
            certificateFaults: certificateFaults, payments: payments, notifications: notificationSettings,
            serverAPI: serverAPI)
    }

    private static func add<Row>(
        _ name: StateTable, _ table: StoreTable<Row>, to changes: inout [StateChange]
    ) throws {
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
