import EvidenceMint
import Foundation

/// The only place where the state changes: each call succeeds as a whole or changes nothing, and is stored before it is
/// answered.
actor StoreService {
    nonisolated let issuer: EvidenceIssuer
    /// The environment names of apps that are added without their own.
    nonisolated let environmentNames: EnvironmentNames
    private let storage: any StateStorage
    private let world: @Sendable () -> Date
    private let initialClock: StoreClock
    private var current: ServiceState

    /// Loads the stored state, or begins a new one.
    /// - Parameters:
    ///   - clock: the initial time of the store's stopped clock; nil lets it run with the real clock.
    ///   - world: the real clock.
    init(
        authority: AppStoreAuthority, storage: any StateStorage, clock: Date?, environmentNames: EnvironmentNames,
        world: @escaping @Sendable () -> Date
    ) throws {
        issuer = EvidenceIssuer(authority: authority)
        self.environmentNames = environmentNames
        self.storage = storage
        self.world = world
        let now = world()
        initialClock = StoreClock(storeTime: (clock ?? now).inWholeSeconds, worldTime: now, rate: clock == nil ? 1 : 0)
        if let kept = try ServiceState(try storage.load()) {
            current = kept
        } else {
            current = ServiceState(clock: initialClock)
            try storage.save(try current.changes(since: nil))
        }
    }

    /// Changes the state, or leaves it unchanged if the body throws.
    func change<Value: Sendable>(_ body: @Sendable (inout ServiceState, Date) throws -> Value) throws -> Value {
        let world = world()
        var next = current
        try next.catchUp(world)
        let value = try body(&next, world)
        try storage.save(try next.changes(since: current))
        next.forgetChanges()
        current = next
        return value
    }

    /// Forgets everything and begins again, with the clock at its initial time.
    func reset() throws {
        let initialClock = initialClock
        try change { state, world in
            let isStill = initialClock.rate == 0
            state.store.state.removeAll(now: isStill ? initialClock.storeTime : world.inWholeSeconds)
            state.evidence.removeAll()
            state.answerFaults = []
            state.evidenceFaults = []
            state.setClock(world, rate: initialClock.rate)
        }
    }
}
