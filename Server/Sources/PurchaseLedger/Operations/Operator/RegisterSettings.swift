import Crypto
import Foundation
import PurchaseVerification

/// Records the settings at a start: apps, their bundle ids, and the products. Purchases that did not agree with earlier
/// settings and agree now start to count.
struct RegisterSettings: LedgerOperation {
    let apps: [RegisteredApp]
    let verifier: PurchaseVerifier
    /// The greatest number of originals whose purchases are counted under the entry of the settings.
    let countedAtOnce: Int

    func perform(_ transaction: LedgerTransaction) throws -> Registry {
        let connection = transaction.connection
        try requireBundlesInPlace(connection)
        let known = try AppsTable(connection: connection).all()
        // Other apps still send evidence of an app that moved. It is observed under the recorded settings, as in a
        // rebuild, whatever the app's settings say now.
        let moved = try Registry(recordedIn: connection).apps.filter { $0.moved != nil }
        var registered: [RegistryApp] = []
        for app in apps {
            guard app.id.utf8.count <= RegisteredApp.nameBytes else {
                throw LedgerRefusal(.appNameTooLong, expected: "at most 255 bytes", found: "\(app.id.utf8.count)")
            }
            let key =
                try known.first { ExactText($0.name) == ExactText(app.id) }?.key
                ?? AppsTable(connection: connection).insert(app.id)
            guard !moved.contains(where: { $0.key == key }) else { continue }
            registered.append(RegistryApp(key: key, settings: app))
        }
        let registry = Registry(apps: registered + moved)
        let current = LedgerTransaction(
            connection: connection, now: transaction.now, registry: registry, entryKey: transaction.entryKey,
            verifier: verifier)
        if try RulesTable(connection: connection).latest() == nil {
            let details = RulesDetails(version: SchemaNumber.rules)
            try details.run(try current.append(current.draft(nil), details))
        }
        for (key, name) in known where registry.app(key: key) == nil {
            try recordRemoval(of: name, key: key, current)
        }
        for app in registered {
            try record(try app.settings.canonicalJSON(), of: app, current)
            for bundleID in app.settings.bundleIDs.sorted() { try bind(bundleID, to: app, current) }
        }
        return registry
    }

    /// Moving a bundle id to another app would make granted transactions claimable again.
    private func requireBundlesInPlace(_ connection: any LedgerConnection) throws {
        let names = Dictionary(
            uniqueKeysWithValues: try AppsTable(connection: connection).all().map { ($0.key, $0.name) })
        for (bundleID, appKey) in try BundlesTable(connection: connection).all() {
            guard let app = apps.first(where: { $0.bundleIDs.contains { ExactText($0) == ExactText(bundleID) } }),
                let name = names[appKey], ExactText(app.id) != ExactText(name)
            else { continue }
            throw LedgerRefusal(
                .bundleOfAnotherApp, expected: "\(bundleID) in the app \(name)",
                found: "\(bundleID) in the app \(app.id)")
        }
    }

    /// Records that an app is no longer in the settings.
    private func recordRemoval(of name: String, key: Int64, _ transaction: LedgerTransaction) throws {
        try record([], of: RegistryApp(key: key, settings: RegisteredApp(id: name, bundleIDs: [])), transaction)
    }

    /// Records settings that changed, and counts the purchases that agree with them now.
    private func record(_ body: [UInt8], of app: RegistryApp, _ transaction: LedgerTransaction) throws {
        let latest = try transaction.latestSettings(appKey: app.key)
        guard latest?.sha256 != Array(SHA256.hash(data: body)) else { return }
        var details = SettingsDetails(settings: String(decoding: body, as: UTF8.self))
        if !body.isEmpty {
            let found = try CountPurchases.originals(
                app, after: latest?.counted, limit: countedAtOnce + 1, transaction)
            details.counting = found.originals.count > countedAtOnce ? .inPieces : nil
        }
        try details.run(try transaction.append(transaction.draft(app), details))
    }

    /// Binds a new bundle id to its app, and observes the evidence that was held for it.
    private func bind(_ bundleID: String, to app: RegistryApp, _ transaction: LedgerTransaction) throws {
        let bundles = BundlesTable(connection: transaction.connection)
        guard try !bundles.all().contains(where: { ExactText($0.bundleID) == ExactText(bundleID) }) else { return }
        let details = BundleBoundDetails(bundleID: bundleID)
        try details.run(try transaction.append(transaction.draft(app), details))
    }
}

/// `rules`.
struct RulesDetails: LedgerInput {
    static var kind: JournalKind { .rules }
    var version: Int64

    func run(_ write: EntryWrite) throws {
        let rules = RulesTable(connection: write.connection)
        if let latest = try rules.latest(), latest > version {
            try write.impossible("version \(version) of the rules comes after version \(latest)")
        }
        try rules.insertIfNew(version, entry: write.entry.key)
    }
}

/// `settings`: an app's settings as canonical JSON.
struct SettingsDetails: LedgerInput {
    static var kind: JournalKind { .settings }
    var settings: String
    /// How the purchases that agree with them now are counted; `nil` by this entry.
    var counting: Counting?

    enum Counting: String, Codable, Sendable {
        /// By entries that follow.
        case inPieces = "in_pieces"
        /// By entries before. The settings are the same as before.
        case done
    }

    func run(_ write: EntryWrite) throws {
        let (transaction, app, body) = (write.transaction, write.app, Array(settings.utf8))
        let history = SettingsHistoryTable(connection: write.connection)
        let former = try transaction.latestSettings(appKey: app.key)?.counted
        try history.insert(
            appKey: app.key, sha256: Array(SHA256.hash(data: body)), body: body, entry: write.entry.key)
        // The facts and bindings of an app that is no longer in the settings stay.
        guard !body.isEmpty else { return }
        if counting == nil {
            let found = try CountPurchases.originals(app, after: former, limit: .max, transaction).originals
            let changes = LedgerChanges(transaction, app: app)
            for original in Set(found).sorted() { try changes.describeAgain(original: original) }
            try changes.settle()
            try changes.finish(write.entry)
        }
        guard counting != .done else { return }
        // Evidence that arrived while the app was not in the settings.
        let bound = try BundlesTable(connection: write.connection).all().filter { $0.appKey == app.key }
        for (bundleID, _) in bound { try write.observeHeld(bundleID) }
    }
}

/// `bundle_bound`.
struct BundleBoundDetails: LedgerInput {
    static var kind: JournalKind { .bundleBound }
    var bundleID: String

    func run(_ write: EntryWrite) throws {
        try BundlesTable(connection: write.connection)
            .insert(bundleID, appKey: write.app.key, entry: write.entry.key)
        try write.observeHeld(bundleID)
    }
}

extension EntryWrite {
    /// Observes the evidence that was held for a bundle id.
    fileprivate func observeHeld(_ bundleID: String) throws {
        let held = HeldEvidenceTable(connection: connection)
        let keys = try held.keys(bundleID: bundleID)
        guard !keys.isEmpty, app.settings.bundleIDs.contains(where: { ExactText($0) == ExactText(bundleID) }) else {
            return
        }
        guard let verifier = transaction.verifier else {
            throw LedgerStorageError(.other, "evidence that was held needs a verifier")
        }
        let changes = LedgerChanges(transaction, app: app)
        for key in keys {
            guard let row = try EvidenceTable(connection: connection).row(key: key),
                let bytes = try EvidenceStore(connection: connection).bytes(row)
            else { continue }
            let evidence = EvidenceExaminer(verifier: verifier).examine(bytes)
            guard case .success(let observation) = evidence.verified,
                transaction.registry.observer(of: evidence, claimedFor: app)?.key == app.key
            else { continue }
            try changes.observe(observation, evidence: key)
        }
        try held.delete(bundleID: bundleID)
        try changes.settle()
        try changes.finish(entry)
    }
}

extension Registry {
    /// Reads the apps with their last recorded settings, except removed apps.
    init(recordedIn connection: any LedgerConnection) throws(LedgerStorageError) {
        var apps: [RegistryApp] = []
        let moved = try AppsTable(connection: connection).moved()
        for (key, _) in try AppsTable(connection: connection).all() {
            let latest = try SettingsHistoryTable(connection: connection).latest(appKey: key)
            guard let body = latest?.body, !body.isEmpty else { continue }
            apps.append(RegistryApp(key: key, settings: try RegisteredApp(recorded: body), moved: moved[key]))
        }
        self.init(apps: apps)
    }
}
