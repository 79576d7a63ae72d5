import PurchaseVerification

/// Counts purchases of products with which earlier settings did not agree, as many under one entry as it may hold in
/// one transaction. Other writes go on between two entries.
struct CountPurchases: LedgerOperation {
    let app: String
    let place: Place
    let limit: Int

    /// Where the search for such purchases goes on.
    struct Place: Sendable {
        /// The entry of the settings.
        let settings: Int64
        /// The last product that is done.
        var product = ""
        /// The last original of the next product that is done.
        var original: Int64 = 0
    }

    /// - Returns: where it goes on; `nil` at the end, and if the settings are no longer the newest: then the server
    ///   that registered others counts.
    func perform(_ transaction: LedgerTransaction) throws -> Place? {
        let app = try transaction.app(app)
        guard let latest = try transaction.latestSettings(appKey: app.key), latest.entry == place.settings,
            latest.counting == .inPieces
        else { return nil }
        let (originals, next) = try Self.originals(app, from: place, limit: max(1, limit), transaction)
        let changes = LedgerChanges(transaction, app: app)
        for original in originals { try changes.describeAgain(original: original) }
        if changes.histories.contains(where: { $0.records.contains(where: \.isChanged) }) {
            let counted = changes.histories.map { PurchasesCountedDetails.Original($0.key) }
            let write = try transaction.append(transaction.draft(app), PurchasesCountedDetails(originals: counted))
            try changes.settle()
            try changes.finish(write.entry)
        }
        guard next == nil else { return next }
        let details = SettingsDetails(settings: String(decoding: latest.body, as: UTF8.self), counting: .done)
        try details.run(try transaction.append(transaction.draft(app), details))
        return nil
    }

    /// The originals with purchases that earlier settings did not agree with, of the products of the settings in force.
    ///
    /// - Parameters:
    ///   - former: the previous settings, if they are known. Where they say the same about a product as the new ones,
    ///     nothing changes for its purchases, so these are not read.
    ///   - limit: the maximum number.
    /// - Returns: the originals, and where the search goes on; `nil` at the end.
    static func originals(
        _ app: RegistryApp, after former: RegisteredApp? = nil, from place: Place = Place(settings: 0), limit: Int,
        _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> (originals: [Int64], next: Place?) {
        var (found, place): ([Int64], Place) = ([], place)
        while true {
            let products = try transaction.products.page(appKey: app.key, after: place.product, limit: 256)
            guard !products.isEmpty else { return (found, nil) }
            for product in products {
                let isSame =
                    former.map {
                        $0.products.isEmpty == app.settings.products.isEmpty
                            && $0.product(product.id) == app.settings.product(product.id)
                    } ?? false
                if !isSame {
                    found += try transaction.transactions.originalsWithoutKind(
                        product: product.key, after: place.original, limit: Int64(limit - found.count))
                    if found.count == limit {
                        place.original = found.last ?? 0
                        return (found, place)
                    }
                }
                place = Place(settings: place.settings, product: product.id)
            }
        }
    }
}

/// `purchases_counted`: originals whose purchases count since settings that an entry before recorded. There are more of
/// them than one transaction may hold.
struct PurchasesCountedDetails: LedgerInput {
    static var kind: JournalKind { .purchasesCounted }
    var originals: [Original]

    struct Original: Codable, Sendable {
        var environment: String
        var id: String
        var second: Int64?

        init(_ key: OriginalKey) {
            (environment, id) = (key.environment.name, key.transactionID.string)
            second = key.second == 0 ? nil : key.second
        }
    }

    func run(_ write: EntryWrite) throws {
        let changes = LedgerChanges(write.transaction, app: write.app)
        for original in originals {
            let key = OriginalKey(
                environment: AppStoreEnvironment(original.environment), transactionID: ExactText(original.id),
                second: original.second ?? 0)
            guard let row = try write.original(key) else {
                if !write.isOfEntriesAlone { try write.impossible("the purchase is not known", unlessErased: true) }
                continue
            }
            try changes.describeAgain(original: row.key)
        }
        try changes.settle()
        try changes.finish(write.entry)
    }
}

/// Where the count for the newest settings of an app begins; `nil` if it is done.
private struct UncountedPurchases: LedgerQuery {
    static let access = LedgerReadAccess.keys
    let app: String

    func answer(_ reader: LedgerTransaction) throws -> CountPurchases.Place? {
        let latest = try reader.latestSettings(appKey: try reader.app(app).key)
        return latest.flatMap { $0.counting == .inPieces ? CountPurchases.Place(settings: $0.entry) : nil }
    }
}

/// The newest settings of an app.
struct LatestSettings {
    let entry: Int64
    let sha256: [UInt8]
    /// Empty for an app that was removed from the settings.
    let body: [UInt8]
    let counting: SettingsDetails.Counting?

    /// The settings with which all purchases that agree were counted; `nil` if there are none, or if some may be left.
    var counted: RegisteredApp? {
        get throws(LedgerStorageError) {
            body.isEmpty || counting == .inPieces ? nil : try RegisteredApp(recorded: body)
        }
    }
}

extension LedgerTransaction {
    /// The newest settings of an app; `nil` if it never had any.
    func latestSettings(appKey: Int64) throws(LedgerStorageError) -> LatestSettings? {
        guard let latest = try SettingsHistoryTable(connection: connection).latest(appKey: appKey) else { return nil }
        let entry = try JournalTable(connection: connection).row(key: latest.entryKey)
        // The act that moves an app repeats its settings.
        var details: SettingsDetails?
        if let content = entry?.details, entry?.kind == Int64(JournalKind.settings.rawValue) {
            details = try SettingsDetails(encoded: content)
        }
        return LatestSettings(
            entry: latest.entryKey, sha256: latest.sha256, body: latest.body, counting: details?.counting)
    }
}

extension PurchaseLedger {
    /// Counts the purchases that the newest settings agree with and that were too many for their entry. A count that
    /// was interrupted is continued.
    ///
    /// - Throws: `LedgerStorageError`. The settings are in force all the same, and the next start or reload goes on.
    public func countPurchases() async throws {
        for app in registry.apps where app.moved == nil {
            let app = app.settings.id
            var place = try await answer(UncountedPurchases(app: app))
            while let from = place {
                place = try await perform(CountPurchases(app: app, place: from, limit: countedAtOnce))
            }
        }
    }
}
