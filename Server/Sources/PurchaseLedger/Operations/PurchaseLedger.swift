public import PurchaseVerification
import Synchronization

/// The ledger: facts, owners, entitlements, orders, and the journal that they are computed from.
///
/// Each operation is one transaction. It takes a plain value and returns a plain value after the commit is durable.
///
///     let ledger = try await PurchaseLedger.open(database: database, verifier: verifier, apps: apps, clock: clock)
///     let outcome = try await ledger.submit(claim)
///     let order = try await ledger.perform(CreateOrder(app: "example", draft))
///     let entitlements = try await ledger.answer(EntitlementsOfCustomer(app: "example", customer: "alice"))
public struct PurchaseLedger: Sendable {
    let database: any LedgerDatabase
    let verifier: PurchaseVerifier
    /// The settings in force, as far as this process has read them.
    let settings: RegistryInForce
    let clock: @Sendable () -> Timestamp
    /// Authenticates the entries that this process writes.
    let entryKey: EntryKey?
    /// The refusals beyond the daily budget that were not recorded yet. A ledger under other settings goes on with
    /// them.
    var refusalCounts = RefusalCounts()
    /// The greatest number of originals of a customer who is merged into another: a greater merge would hold the writes
    /// of all customers for long (`MergeCustomers.holdsWrites`).
    public var mergeOriginals = 5_000
    /// The greatest number of originals that one entry counts after the settings changed: a transaction of a thousand
    /// takes less than a second and some ten megabytes.
    package var countedAtOnce = 1_000
    /// Called at the end of each verification of evidence for a claim, restore, notification or answer, on its thread.
    /// It must not wait.
    public var onVerification: (@Sendable (VerifiedPiece) -> Void)?

    /// Opens the ledger in a database with the current schema (`LedgerMigrations`), and records settings that changed.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - verifier: verifies evidence.
    ///   - apps: the apps of the settings.
    ///   - clock: the time of each operation.
    ///   - entryKey: authenticates the journal entries that are written. Without it, new entries have no code: they are
    ///     not
    ///     sealed into the Merkle log, and the audit reports them.
    /// - Throws: `LedgerRefusal` (`bundle_of_another_app`) if the settings move a bundle id to another app.
    public static func open(
        database: any LedgerDatabase, verifier: PurchaseVerifier, apps: [RegisteredApp],
        clock: @escaping @Sendable () -> Timestamp, entryKey: EntryKey? = nil
    ) async throws -> PurchaseLedger {
        try await LedgerMigrations.requireCurrent(database)
        let ledger = try await PurchaseLedger(
            database: database, verifier: verifier, settings: RegistryInForce(), clock: clock, entryKey: entryKey
        ).underSettings(apps: apps, verifier: verifier)
        try await ledger.countPurchases()
        return ledger
    }

    /// The same ledger under other settings, which are recorded if they changed. `countPurchases` goes on with what was
    /// too much for their entry.
    ///
    /// - Throws: `LedgerRefusal` (`bundle_of_another_app`) if the settings move a bundle id to another app.
    public func underSettings(apps: [RegisteredApp], verifier: PurchaseVerifier) async throws -> PurchaseLedger {
        let registration = RegisterSettings(apps: apps, verifier: verifier, countedAtOnce: countedAtOnce)
        let (now, entryKey) = (clock, entryKey)
        let settings = try await RepeatedWrite(database: database, plan: { LedgerWritePlan(locks: .everything) })
            .perform { connection, attempt in
                if let entryKey { try LogStateTable(connection: connection).setEntryKeyID(entryKey.id) }
                let registry = try registration.perform(
                    LedgerTransaction(
                        connection: connection, now: now(), registry: Registry(apps: []), entryKey: entryKey,
                        attempt: attempt))
                let number = try SettingsHistoryTable(connection: connection).number()
                return RegistryInForce(registry, number: number)
            }
        return PurchaseLedger(
            database: database, verifier: verifier, settings: settings, clock: clock, entryKey: entryKey,
            refusalCounts: refusalCounts, mergeOriginals: mergeOriginals, countedAtOnce: countedAtOnce,
            onVerification: onVerification)
    }

    /// Opens the ledger with the settings that the latest start recorded, and records nothing.
    ///
    /// Operators' commands use it beside a running server: with settings other than the server's, their decisions would
    /// differ.
    ///
    /// - Throws: `LedgerStorageError`.
    public static func openRecorded(
        database: any LedgerDatabase, verifier: PurchaseVerifier, entryKey: EntryKey? = nil,
        clock: @escaping @Sendable () -> Timestamp
    ) async throws -> PurchaseLedger {
        try await LedgerMigrations.requireCurrent(database)
        let settings = try await database.read(.keys) { connection in
            let number = try SettingsHistoryTable(connection: connection).number()
            return RegistryInForce(try Registry(recordedIn: connection), number: number)
        }
        return PurchaseLedger(
            database: database, verifier: verifier, settings: settings, clock: clock, entryKey: entryKey)
    }

    /// The same ledger, whose reads begin with the engine's settings for an audit.
    var underAudit: PurchaseLedger {
        PurchaseLedger(
            database: AuditedDatabase(database: database), verifier: verifier, settings: settings, clock: clock,
            entryKey: entryKey)
    }

    var registry: Registry { settings.registry }

    /// The names of the apps in the settings, sorted.
    public var apps: [String] { registry.apps.map(\.settings.id).sorted() }

    /// Where an app moved, as far as this process has read it; `nil` while it is here.
    public func placeOfMoved(app: String) -> String? { registry.app(app)?.moved?.place }

    /// Where the app of a bundle id moved, as far as this process has read it; `nil` while it is here.
    public func placeOfMoved(bundleID: String) -> String? {
        registry.app(bundleID: ExactText(bundleID))?.moved?.place
    }

    /// The settings of an app; `nil` if there is no such app.
    public func settings(of app: String) -> RegisteredApp? { registry.app(app)?.settings }

    /// Performs an operation and returns after its commit.
    public func perform<Operation: LedgerOperation>(_ operation: Operation) async throws -> Operation.Outcome {
        do {
            return try await write(operation)
        } catch let revised as RevisedOperation<Operation> {
            // It is revised again only if another write came between, and each time there is less to decide.
            return try await perform(revised.operation)
        }
    }

    private func write<Operation: LedgerOperation>(_ operation: Operation) async throws -> Operation.Outcome {
        let (settings, clock, entryKey, verifier) = (settings, clock, entryKey, verifier)
        let mergeOriginals = mergeOriginals
        let counted = Mutex<[CountedRefusals]>([])
        let outcome = try await RepeatedWrite(database: database, plan: { operation.writePlan(settings.registry) })
            .perform { connection, attempt in
                let notes = RefusalNotes()
                let transaction = LedgerTransaction(
                    connection: connection, now: clock(), registry: try settings.registry(of: connection),
                    entryKey: entryKey, entitlementWrites: EntitlementWrites(), verifier: verifier,
                    attempt: attempt, refusalNotes: notes, mergeOriginals: mergeOriginals)
                let outcome = try operation.perform(transaction)
                counted.withLock { $0 = notes.counted }
                return outcome
            }
        refusalCounts.add(counted.withLock { $0 })
        return outcome
    }

    /// Answers a query from one committed state.
    public func answer<Query: LedgerQuery>(_ query: Query) async throws -> Query.Answer {
        let (registry, clock) = (registry, clock)
        return try await database.read(query.access) { connection in
            try query.answer(LedgerTransaction(connection: connection, now: clock(), registry: registry))
        }
    }

    /// Verifies, decides and records a claim, and returns the answer. Verification holds no lock.
    public func submit(_ submission: PurchaseSubmission) async throws -> PurchaseOutcome {
        try await perform(ClaimPurchase(examine(submission)))
    }

    /// Verifies evidence and records every purchase in it that a customer may have.
    public func restore(_ submission: RestoreSubmission) async throws -> RestoreOutcome {
        try await perform(RestorePurchases(examine(submission)))
    }

    /// Verifies evidence without a claim, and observes it.
    public func observe(_ submission: EvidenceSubmission) async throws -> ObservationOutcome {
        try await perform(ObserveEvidence(examine(submission)))
    }

    /// Answers all waiting writes, then closes the database.
    public func close() async throws {
        try await database.close()
    }
}

/// The settings in force, as far as a process has read them.
///
/// Another server, or an operator's command, can record others. A write reads their number with its locks, and reads
/// the settings themselves again before it decides if the number is another.
final class RegistryInForce: Sendable {
    private let state: Mutex<(registry: Registry, number: Int64)>

    init(_ registry: Registry = Registry(apps: []), number: Int64 = 0) { state = Mutex((registry, number)) }

    var registry: Registry { state.withLock { $0.registry } }

    /// The settings under which a write decides.
    func registry(of connection: any LedgerConnection) throws(LedgerStorageError) -> Registry {
        let number = try connection.settingsNumber()
        let known = state.withLock { $0 }
        guard number != known.number else { return known.registry }
        let registry = try Registry(recordedIn: connection)
        state.withLock { $0 = (registry, number) }
        return registry
    }
}
