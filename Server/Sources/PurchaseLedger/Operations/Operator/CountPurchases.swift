import PurchaseVerification

/// Counts purchases of products with which earlier settings did not agree, as many under one entry as it may hold in
/// one transaction. Other writes go on between two entries.
struct CountPurchases: LedgerOperation {
    let app: String
    let place: Place
    let limit: Int

    /// Where the search for such purchases goes on.
    struct Place: Sendable {
        /// The last product that is done.
        var product = ""
        /// The last original of the next product that is done.
        var original: Int64 = 0
    }

    /// - Returns: where it goes on; `nil` at the end.
    func perform(_ transaction: LedgerTransaction) throws -> Place? {
        let app = try transaction.app(app)
        let (originals, next) = try Self.originals(app, from: place, limit: limit, transaction)
        let changes = LedgerChanges(transaction, app: app)
        for original in originals { try changes.describeAgain(original: original) }
        let counted = changes.histories.filter { $0.records.contains(where: \.isChanged) }.map(\.key)
        guard !counted.isEmpty else { return next }
        let write = try transaction.append(
            transaction.draft(app),
            PurchasesCountedDetails(originals: counted.map(PurchasesCountedDetails.Original.init)))
        try changes.settle()
        try changes.finish(write.entry)
        return next
    }

    /// The originals with purchases that earlier settings did not agree with, of the products of the settings in force.
    ///
    /// - Parameters:
    ///   - former: the previous settings, if they are known. Where they say the same about a product as the new ones,
    ///     nothing changes for its purchases, so these are not read.
    ///   - limit: the maximum number.
    /// - Returns: the originals, and where the search goes on; `nil` at the end.
    static func originals(
        _ app: RegistryApp, after former: RegisteredApp? = nil, from place: Place = Place(), limit: Int,
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
                place = Place(product: product.id)
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
                if !write.isOfEntriesAlone { write.impossible("the purchase is not known", unlessErased: true) }
                continue
            }
            try changes.describeAgain(original: row.key)
        }
        try changes.settle()
        try changes.finish(write.entry)
    }
}

/// Whether the purchases that agree with an app's newest settings are counted a part at a time.
private struct CountsInPieces: LedgerQuery {
    static let access = LedgerReadAccess.keys
    let app: String

    func answer(_ reader: LedgerTransaction) throws -> Bool {
        let latest = try SettingsHistoryTable(connection: reader.connection).latest(appKey: try reader.app(app).key)
        let entry = try latest.flatMap { latest throws(LedgerStorageError) in
            try JournalTable(connection: reader.connection).row(key: latest.entryKey)
        }
        return try entry?.details.map { try SettingsDetails(encoded: $0) }?.countsInPieces ?? false
    }
}

extension PurchaseLedger {
    /// Counts the purchases that the newest settings agree with and that were too many for their entry. A start that
    /// was interrupted goes on with those that are left.
    func countPurchases(of app: String) async throws {
        guard try await answer(CountsInPieces(app: app)) else { return }
        var place: CountPurchases.Place? = CountPurchases.Place()
        while let from = place {
            place = try await perform(CountPurchases(app: app, place: from, limit: countedAtOnce))
        }
    }
}
