import Foundation
import PurchaseVerification

/// Applies journal entries, in their order, to the tables of an empty database.
///
/// Facts, owners and entitlements are computed again from the evidence, which is verified again. What was decided or done, such
/// as which claim bound, which order it paid and which lots were used, is taken from the entry: decisions given are never changed.
struct JournalReplay {
    let connection: any LedgerConnection
    let verifier: PurchaseVerifier
    /// The settings so far.
    var registry: Registry

    /// Applies one entry.
    ///
    /// - Parameters:
    ///   - row: the entry.
    ///   - evidence: its evidence, as it was sent.
    mutating func apply(_ row: JournalRow, evidence: [UInt8]?) throws {
        guard let leaf = JournalLeaf(bytes: row.leaf), let details = row.details else { return }
        if leaf.kind == .settings { try register(leaf, details) }
        let app = registry.app(leaf.app)
        let transaction = LedgerTransaction(connection: connection, now: leaf.at, registry: registry)
        var copy = row
        (copy.customerKey, copy.orderKey, copy.transactionKey, copy.evidenceKey) = (nil, nil, nil, nil)
        let step = ReplayStep(
            transaction: transaction, leaf: leaf, details: details, verifier: verifier,
            evidence: try evidence.map { bytes in
                let stored = StorableEvidence(bytes)
                return (try EvidenceStore(connection: connection).keep(stored), bytes)
            })
        let key = try JournalTable(connection: connection).insert(copy)
        let entry = JournalEntry(key: key, id: row.id, leafHash: [])
        try step.apply(entry, app)
    }

    /// Takes over the settings of an app.
    private mutating func register(_ leaf: JournalLeaf, _ details: [UInt8]) throws {
        let text = try SettingsDetails(encoded: details).settings
        guard !text.isEmpty else {
            // The app is no longer in the settings.
            registry = Registry(apps: registry.apps.filter { !$0.settings.id.isSame(as: leaf.app) })
            return
        }
        let settings = try RegisteredApp(recorded: Array(text.utf8))
        var apps = registry.apps.filter { !$0.settings.id.isSame(as: leaf.app) }
        let table = AppsTable(connection: connection)
        let key = try table.all().first { $0.name.isSame(as: leaf.app) }?.key ?? table.insert(leaf.app)
        apps.append(RegistryApp(key: key, settings: settings))
        registry = Registry(apps: apps)
    }
}
