import Crypto
import PurchaseVerification

/// Applies journal entries, in order, to the tables of an empty database.
///
/// Facts, owners and entitlements are computed again from the evidence, which is verified again. Decisions are taken
/// from the entries and never change: which claims bind, which orders they paid, and which lots were used. They are
/// only compared with what the rules in force give (`RecordedClaims`).
struct JournalReplay {
    let connection: any LedgerConnection
    let verifier: PurchaseVerifier
    let erasures: Erasures
    /// Whether evidence is skipped, so that there are no facts, lots and entitlements of purchases.
    let isOfEntriesAlone: Bool
    /// What the entries before it leave.
    private(set) var state: ReplayState
    let findings = ReplayFindings()

    private var registry: Registry { state.registry }

    init(
        connection: any LedgerConnection, verifier: PurchaseVerifier, erasures: Erasures, state: ReplayState,
        isOfEntriesAlone: Bool
    ) {
        self.isOfEntriesAlone = isOfEntriesAlone
        self.connection = connection
        self.verifier = verifier
        self.erasures = erasures
        self.state = state
    }

    /// Applies one entry.
    ///
    /// - Parameters:
    ///   - row: the entry.
    ///   - claim: its decoded details, if it is a claim whose details are not changed.
    ///   - evidence: its evidence.
    ///   - examined: its evidence, verified.
    mutating func apply(
        _ row: JournalRow, claim read: ClaimDetails?, evidence: ReplayedEvidence?, examined known: ExaminedEvidence?
    ) throws {
        guard let leaf = JournalLeaf(bytes: row.leaf) else { return }
        findings.add(state.order.finding(row, leaf.kind))
        let details: [UInt8]
        var claim = read
        if let erased = erasures.entries[row.id] {
            guard let kept = erased else {
                return try applyErased(row, leaf, evidence, known)
            }
            details = kept
            claim = nil
        } else {
            guard let known = row.details else { return }
            details = known
        }
        if leaf.kind == .settings { try register(leaf, details) }
        let app = registry.app(leaf.app)
        // Evidence that failed verification proved nothing, so its bytes are not needed and may be missing. An App
        // Store reply has no signature.
        if leaf.kind == .claim, claim == nil { claim = try ClaimDetails(encoded: details) }
        let stated: UnverifiedPart?
        if let claim { stated = claim.unverified } else { stated = try UnverifiedPart(leaf.kind, details: details) }
        let isUnverified = stated != nil || leaf.kind == .appStoreAnswer
        let examined = isUnverified || isOfEntriesAlone ? nil : known
        try check(examined, leaf, details)
        let step = try step(leaf, details, claim, examined, evidence)
        let entry = try insert(row)
        try step.apply(entry, app)
        try step.payErasedOrders()
    }

    /// Applies an entry without details: its customer, its order and, if it is still stored, its evidence.
    private func applyErased(
        _ row: JournalRow, _ leaf: JournalLeaf, _ evidence: ReplayedEvidence?, _ known: ExaminedEvidence?
    ) throws {
        let app = registry.app(leaf.app)
        let examined = isOfEntriesAlone ? nil : known
        let step = try step(leaf, [], nil, examined, evidence)
        try step.applyErased(try insert(row), app)
        try step.payErasedOrders()
    }

    /// The step of an entry, with its evidence stored.
    private func step(
        _ leaf: JournalLeaf, _ details: [UInt8], _ claim: ClaimDetails?, _ examined: ExaminedEvidence?,
        _ evidence: ReplayedEvidence?
    ) throws(LedgerStorageError) -> ReplayStep {
        var stored: (ExaminedEvidence, Int64)?
        if let examined {
            stored = (examined, try EvidenceStore(connection: connection).keep(examined.stored).evidence.key)
        } else if let evidence {
            // Every piece of evidence uses up a number.
            let row = EvidenceRow(sha256: evidence.row.sha256, size: evidence.row.size, content: nil)
            _ = try EvidenceTable(connection: connection).keyToWrite(row)
        }
        return ReplayStep(
            transaction: LedgerTransaction(
                connection: connection, now: leaf.at, registry: registry, verifier: verifier, erasures: erasures),
            leaf: leaf, details: details, claimDetails: claim, isOfEntriesAlone: isOfEntriesAlone,
            evidence: stored, findings: findings)
    }

    /// Inserts the entry without the numbers of the other database.
    private func insert(_ row: JournalRow) throws(LedgerStorageError) -> JournalEntry {
        var copy = row
        (copy.customerKey, copy.orderKey, copy.transactionKey, copy.evidenceKey) = (nil, nil, nil, nil)
        return JournalEntry(key: try JournalTable(connection: connection).insert(copy), id: row.id, leafHash: [])
    }

    /// Notes accepted evidence that is refused now, usually because the trusted certificates changed.
    private mutating func check(_ evidence: ExaminedEvidence?, _ leaf: JournalLeaf, _ details: [UInt8]) throws {
        guard case .failure(let error) = evidence?.verified else { return }
        var wasAccepted = leaf.code == DecisionCode.accepted.rawValue
        if leaf.kind == .claim, !wasAccepted {
            wasAccepted = try ClaimDetails(encoded: details).outcomes.contains(where: \.binds)
        } else if leaf.kind == .decision, !wasAccepted {
            wasAccepted = try DecisionDetails(encoded: details).decided.outcomes.contains(where: \.binds)
        }
        guard wasAccepted else { return }
        findings.add(
            AuditFinding(
                kind: .evidenceRefused,
                detail: "\((leaf.evidence ?? []).hexadecimal) of entry \(leaf.id.text): \(error.code.rawValue)"))
    }

    /// Adopts the settings of an app.
    private mutating func register(_ leaf: JournalLeaf, _ details: [UInt8]) throws {
        let text = try SettingsDetails(encoded: details).settings
        guard !text.isEmpty else {
            // The app is no longer in the settings.
            state.registry = Registry(apps: registry.apps.filter { !$0.settings.id.isSame(as: leaf.app) })
            return
        }
        let settings = try RegisteredApp(recorded: Array(text.utf8))
        var apps = registry.apps.filter { !$0.settings.id.isSame(as: leaf.app) }
        let table = AppsTable(connection: connection)
        let key = try table.all().first { $0.name.isSame(as: leaf.app) }?.key ?? table.insert(leaf.app)
        apps.append(RegistryApp(key: key, settings: settings))
        state.registry = Registry(apps: apps)
    }
}

/// What a replay keeps between entries, besides the tables.
struct ReplayState: Sendable {
    /// The settings so far.
    var registry = Registry(apps: [])
    var order = EntryOrder()
}

/// The evidence of an entry.
struct ReplayedEvidence: Sendable {
    let row: EvidenceRow
    /// As it was sent; `nil` if it was erased, changed or stored in part.
    let bytes: [UInt8]?
}
