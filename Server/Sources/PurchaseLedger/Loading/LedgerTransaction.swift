import PurchaseVerification

import struct Foundation.UUID

/// A transaction of the ledger: a connection, a time, and the settings in force.
///
/// It is a class because all parts of an operation share it.
public final class LedgerTransaction {
    let connection: any LedgerConnection
    /// The time of all changes of the transaction.
    let now: Timestamp
    let registry: Registry
    /// Authenticates the entries that are written.
    let entryKey: EntryKey?
    /// The entitlements that the write changed; if it is `nil`, all are read from the database.
    let entitlementWrites: EntitlementWrites?
    /// Verifies stored evidence again; `nil` in a query.
    let verifier: PurchaseVerifier?
    /// The erasures, for a rebuild, which reads them before the entries that they concern.
    let erasures: Erasures?
    /// Notes the written entries, for a commit whose outcome is unknown.
    let attempt: WriteAttempt?
    /// The refusals that are counted once the write is committed; `nil` in a query and in a rebuild.
    let refusalNotes: RefusalNotes?
    /// The greatest number of originals that a merge renames while other writes wait.
    let mergeOriginals: Int
    /// What a write of several pieces of evidence knows; `nil` for any other.
    private(set) var situation: Situation?
    /// The customer whom this write created as a guest: the entry of the claim records the mark.
    private(set) var newGuest: Int64?
    /// The change that wrote facts last.
    private weak var lastChange: AnyObject?
    private var hasWritten = false
    /// Whether all facts that were written belong to one change.
    private(set) var hasOneChange = true

    init(
        connection: any LedgerConnection, now: Timestamp, registry: Registry, entryKey: EntryKey? = nil,
        entitlementWrites: EntitlementWrites? = nil,
        verifier: PurchaseVerifier? = nil, erasures: Erasures? = nil,
        attempt: WriteAttempt? = nil, refusalNotes: RefusalNotes? = nil, mergeOriginals: Int = 0
    ) {
        self.mergeOriginals = mergeOriginals
        self.connection = connection
        self.now = now
        self.registry = registry
        self.entryKey = entryKey
        self.entitlementWrites = entitlementWrites
        self.verifier = verifier
        self.erasures = erasures
        self.attempt = attempt
        self.refusalNotes = refusalNotes
    }

    var journal: Journal { Journal(connection: connection, key: entryKey, attempt: attempt) }
    var customers: CustomersTable { CustomersTable(connection: connection) }
    var products: ProductsTable { ProductsTable(connection: connection) }
    var orders: OrdersTable { OrdersTable(connection: connection) }
    var transactions: TransactionsTable { TransactionsTable(connection: connection) }
    var environments: EnvironmentsTable { EnvironmentsTable(connection: connection) }
    var entitlements: EntitlementsTable {
        EntitlementsTable(connection: connection, writes: entitlementWrites)
    }

    /// Begins to note what the write knows, so that each decision sees the effects of those before it without reading
    /// them.
    func beginSituation() -> Situation {
        let new = Situation()
        situation = new
        entitlementWrites?.explainLast()
        return new
    }

    /// Notes a change that writes facts.
    func noteFacts(of change: AnyObject) {
        if hasWritten, lastChange !== change { hasOneChange = false }
        (lastChange, hasWritten) = (change, true)
    }

    /// A draft of a journal entry at this transaction's time.
    func draft(_ app: RegistryApp?) -> JournalDraft { JournalDraft(at: now, app: app) }

    /// The app with a name.
    ///
    /// - Parameter isMovedToo: whether an app that moved into another ledger is still written here.
    /// - Throws: `LedgerStorageError` if it is not in the settings; the server checks keys first. `appMoved` in a write
    ///   for an app that moved.
    func app(_ name: String, isMovedToo: Bool = false) throws(LedgerStorageError) -> RegistryApp {
        guard let app = registry.app(name) else {
            throw LedgerStorageError(.other, "the app \(name) is not in the settings")
        }
        if !isMovedToo { try requireHere(app) }
        return app
    }

    /// Refuses the write of a request for an app that moved into another ledger.
    func requireHere(_ app: RegistryApp?) throws(LedgerStorageError) {
        guard refusalNotes != nil, let app, let moved = app.moved else { return }
        throw LedgerStorageError(.appMoved, "the app \(app.settings.id) moved to \(moved.place)")
    }

    /// The app with a name. A name that is not in the settings gets a number, since keys are created before the first
    /// start.
    func appToWrite(_ name: String) throws(LedgerStorageError) -> RegistryApp {
        if let app = registry.app(name) { return app }
        let table = AppsTable(connection: connection)
        let settings = RegisteredApp(id: name, bundleIDs: [])
        if let known = try table.all().first(where: { $0.name.isSame(as: name) }) {
            return RegistryApp(key: known.key, settings: settings)
        }
        return RegistryApp(key: try table.insert(name), settings: settings)
    }

    /// The customer with a name, after all merges; `nil` if the name was never seen.
    func customer(_ name: String, _ app: RegistryApp) throws(LedgerStorageError) -> CustomerRow? {
        if let known = situation?.customer(name, app: app.key) { return known }
        guard let row = try customers.named(name, appKey: app.key) else { return nil }
        let customer = try customers.surviving(row)
        if customer.key != row.key { try connection.lock { () throws(LedgerStorageError) in [customer.lock] } }
        return customer
    }

    /// The customer with a name, after all merges. A new customer gets a random reference.
    ///
    /// - Parameter isGuest: whether an app says that the customer is a guest. Only a new one with the id of a guest
    ///   becomes one: nobody makes a guest of the name that somebody else will have.
    func customerToWrite(
        _ name: String, _ app: RegistryApp, isGuest: Bool = false
    ) throws(LedgerStorageError) -> CustomerRow {
        if let customer = try customer(name, app) { return customer }
        var row = CustomerRow(appKey: app.key, reference: RandomID.next(), name: name)
        row.isGuest = isGuest && GuestID.isGuestID(name)
        let customer = try customers.insert(row)
        if row.isGuest { newGuest = customer.key }
        situation?.note(customer, named: name)
        return customer
    }

    /// Locks the balances and orders of customers, after all merges.
    ///
    /// - Parameter keys: computes the customers, if the engine locks anything.
    func lock(customers keys: () throws(LedgerStorageError) -> Set<Int64>) throws(LedgerStorageError) {
        try connection.lock { () throws(LedgerStorageError) in
            var parts: [LedgerLock] = []
            for key in try keys().sorted() { parts.append(try customers.surviving(try customers.row(key)).lock) }
            return parts
        }
    }

    /// Throws a refusal if a product is not in the settings.
    func requireProduct(_ id: String, _ app: RegistryApp) throws(LedgerRefusal) {
        guard app.settings.products.isEmpty || app.settings.product(id) != nil else {
            throw LedgerRefusal(.productUnknown, found: id)
        }
    }
}

/// The balances and shortfalls that a change leaves, by customer.
typealias Balances = [Int64: (balance: Int64, shortfall: Int64)]
