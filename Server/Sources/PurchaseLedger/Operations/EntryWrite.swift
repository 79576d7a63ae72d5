import PurchaseVerification

import struct Foundation.UUID

/// The write of one journal entry: by a request, or again from the record, by a rebuild or an audit.
///
/// The details of an entry have one function, `LedgerInput.run`, that writes what the entry changes in both cases.
struct EntryWrite {
    let transaction: LedgerTransaction
    let draft: JournalDraft
    let entry: JournalEntry
    /// The recorded entry; `nil` in the write of a request.
    let recorded: ReplayStep?

    var app: RegistryApp { draft.app ?? .unknown }
    var connection: any LedgerConnection { transaction.connection }
    var events: LedgerEvents { LedgerEvents(transaction, app: app, entry: entry) }
    /// Whether evidence is skipped, so that there are no facts, lots and entitlements of purchases.
    var isOfEntriesAlone: Bool { recorded?.isOfEntriesAlone ?? false }

    /// Notes that a recorded entry cannot come at its place.
    ///
    /// - Parameter isErasable: whether an erasure explains it: entries may refer to something of which nothing is left.
    /// - Throws: in the write of a request: it should have been refused before it became an entry. The whole
    ///   transaction is undone.
    func impossible(_ reason: String, unlessErased isErasable: Bool = false) throws(LedgerStorageError) {
        guard let recorded else {
            throw LedgerStorageError(.other, "the entry was not written: \(reason)")
        }
        guard !isErasable || !recorded.hasErasures else { return }
        recorded.findings.add(impossible: recorded.leaf, reason)
    }

    // MARK: Customers and orders

    /// The customer of the entry. In a replay it is the customer with a name or, without one, the leaf's customer.
    func customer(_ name: String? = nil) throws -> CustomerRow? {
        guard let recorded else { return draft.customer }
        return try recorded.customer(name, app)
    }

    /// The customer of an entry that always has one.
    func existing(_ name: String?) throws -> CustomerRow {
        guard let customer = try customer(name) else {
            throw LedgerStorageError(.corrupt, "entry \(entry.id.text) names no customer")
        }
        return customer
    }

    /// The customer who is merged, or who had the purchase before. In a replay it is the customer with a reference,
    /// after all merges.
    func former(reference text: String) throws(LedgerStorageError) -> CustomerRow? {
        guard recorded != nil else { return draft.former }
        guard let reference = UUID(uuidString: text) else { return nil }
        return try transaction.customer(reference: reference)
    }

    /// Ends the mark of a guest: a backend or an operator knows the customer.
    func endGuest(_ customer: CustomerRow?) throws(LedgerStorageError) {
        if let customer, customer.isGuest { try transaction.customers.setGuest(false, of: customer.key) }
    }

    /// The order of the entry. In a replay it must exist, and be in none of the excluded states.
    func order(besides excluded: Set<OrderStatus>) throws(LedgerStorageError) -> OrderRow? {
        guard let leaf = recorded?.leaf else { return draft.order }
        guard let id = leaf.order else {
            try impossible("it names no order")
            return nil
        }
        guard let row = try transaction.orders.row(id: id) else {
            try impossible("there is no order \(id.text) before it")
            return nil
        }
        if excluded.contains(row.status) { try impossible("the order \(id.text) is \(row.status.rawValue)") }
        return row
    }

    /// Writes a new state of an order, and tells it.
    func change(
        _ order: OrderRow, balance: Balances.Value? = nil, reason: String? = nil, _ change: (inout OrderRow) -> Void
    ) throws(LedgerStorageError) -> OrderRow {
        var row = order
        change(&row)
        try transaction.orders.update(row, from: order.status)
        try transaction.tell(
            events.event(of: row, from: order, balance: balance, reason: reason), to: row.customerKey)
        return row
    }

    // MARK: Purchases

    /// The history of a purchase with the changes of this entry. In a replay, the transaction of a customer who was
    /// erased later is added if it is missing.
    ///
    /// - Returns: `nil` if the transaction is not known.
    func history(
        of key: TransactionKey
    ) throws(LedgerStorageError) -> (changes: LedgerChanges, place: (history: Int, record: Int))? {
        let changes = LedgerChanges(transaction, app: app)
        if let erased = transaction.erasures?.transactions[key] { try changes.claim(erased: erased) }
        let environment = try transaction.environments.keyToWrite(of: key.environment)
        guard let place = try changes.place(of: key, environment: environment) else { return nil }
        return (changes, place)
    }

    /// A stored original. All of its transactions can have belonged to a customer who was erased later; then they are
    /// added.
    func original(_ key: OriginalKey) throws(LedgerStorageError) -> OriginalRow? {
        let environment = try transaction.environments.keyToWrite(of: key.environment)
        let table = OriginalsTable(connection: connection)
        if let row = try table.row(key, environment: environment) { return row }
        guard let changes = try erased(key) else { return nil }
        try changes.finish(entry)
        return try table.row(key, environment: environment)
    }

    /// Adds the transactions of an original whose customers were erased later.
    ///
    /// - Returns: the changes, with what refers to the entry still to be written; `nil` if there are none.
    func erased(_ key: OriginalKey) throws(LedgerStorageError) -> LedgerChanges? {
        let erased = transaction.erasures?.transactions.values.filter { $0.original == key } ?? []
        guard !erased.isEmpty else { return nil }
        let changes = LedgerChanges(transaction, app: app)
        for facts in erased.sorted(by: { $0.key.transactionID < $1.key.transactionID }) {
            try changes.claim(erased: facts)
        }
        try changes.settle()
        return changes
    }

    /// Computes originals again after a change.
    func settle(_ originals: [Int64]) throws(LedgerStorageError) {
        guard !originals.isEmpty else { return }
        let changes = LedgerChanges(transaction, app: app)
        for original in originals { _ = try changes.history(original) }
        try changes.settle()
        try changes.finish(entry)
    }
}

extension LedgerTransaction {
    /// Appends the entry of a request.
    func append(_ draft: JournalDraft, _ details: some JournalDetails) throws(LedgerStorageError) -> EntryWrite {
        EntryWrite(transaction: self, draft: draft, entry: try journal.append(draft, details), recorded: nil)
    }

    /// The customer with a reference, after all merges.
    func customer(reference: UUID) throws(LedgerStorageError) -> CustomerRow? {
        guard let row = try customers.row(reference: reference.bytes) else { return nil }
        return try customers.surviving(row)
    }
}

/// An input of the ledger: the details of one kind of entry, with the one function that writes what such an entry
/// changes.
protocol LedgerInput: JournalDetails {
    associatedtype Written = Void
    /// Writes what the entry changes: after it was appended by a request, or again from the record.
    func run(_ write: EntryWrite) throws -> Written
    /// What an erasure of the entry's customer keeps of it: what affects purchases of others, without names. `nil` for
    /// nothing, which is the default.
    func redacted(_ scope: ErasureScope) throws -> Self?
}

extension LedgerInput {
    func redacted(_ scope: ErasureScope) -> Self? { nil }

    /// Writes what a recorded entry changes.
    static func run(encoded: [UInt8], _ write: EntryWrite) throws { _ = try Self(encoded: encoded).run(write) }

    /// What an erasure keeps of a recorded entry.
    static func redacted(encoded: [UInt8], _ scope: ErasureScope) throws -> [UInt8]? {
        try Self(encoded: encoded).redacted(scope)?.encoded()
    }
}

extension JournalKind {
    /// The input of its entries.
    var input: any LedgerInput.Type {
        switch self {
        case .evidence: EvidenceDetails.self
        case .appStoreAnswer: AppStoreAnswerDetails.self
        case .claim: ClaimDetails.self
        case .orderCreated: OrderCreatedDetails.self
        case .orderCancelled: OrderCancelledDetails.self
        case .orderFulfilled: OrderFulfilledDetails.self
        case .consumed: ConsumedDetails.self
        case .tokenAssigned: TokenAssignedDetails.self
        case .purchaseMoved: PurchaseMovedDetails.self
        case .customerMerged: CustomerMergedDetails.self
        case .customerErased: CustomerErasedDetails.self
        case .grantAdded: GrantAddedDetails.self
        case .revocationAdded: RevocationAddedDetails.self
        case .actLifted: ActLiftedDetails.self
        case .testersChanged: TestersChangedDetails.self
        case .settings: SettingsDetails.self
        case .bundleBound: BundleBoundDetails.self
        case .keyCreated: KeyCreatedDetails.self
        case .keyRevoked: KeyRevokedDetails.self
        case .rules: RulesDetails.self
        case .recordContinued: RecordContinuedDetails.self
        case .orderClosed: OrderClosedDetails.self
        case .notification: NotificationDetails.self
        case .seatClaimed: SeatClaimedDetails.self
        case .seatUnclaimed: SeatUnclaimedDetails.self
        case .groundAdded: GroundAddedDetails.self
        case .groundEnded: GroundEndedDetails.self
        case .consumptionConsent: ConsumptionConsentDetails.self
        case .consumptionAnswered: ConsumptionAnsweredDetails.self
        case .extensionRequested: ExtensionRequestedDetails.self
        case .extensionAnswered: ExtensionAnsweredDetails.self
        case .offerSigned: OfferSignedDetails.self
        case .refusals: RefusalsDetails.self
        case .tokenSetAtApple: TokenSetAtAppleDetails.self
        case .purchasesCounted: PurchasesCountedDetails.self
        case .externalStated: ExternalStatedDetails.self
        case .externalReported: ExternalReportedDetails.self
        case .stripeEvent: StripeEventDetails.self
        case .appMoved: AppMovedDetails.self
        case .decision: DecisionDetails.self
        }
    }
}
