public import PurchaseVerification

/// Reads all purchases of an app from one committed state, original by original, in bounded memory.
public struct PurchaseExport: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    /// The only environment; `nil` for all.
    public var environment: AppStoreEnvironment?
    private let body: @Sendable ([ExportedPurchase]) throws -> Void

    /// - Parameter body: called with the rows of each original that has any, in the order of the originals.
    public init(
        app: String, environment: AppStoreEnvironment?, _ body: @escaping @Sendable ([ExportedPurchase]) throws -> Void
    ) {
        (self.app, self.environment, self.body) = (app, environment, body)
    }

    public func answer(_ reader: LedgerTransaction) throws {
        try reader.forEachOriginal(app, environment, isNamed: true) { try body($0) }
    }
}

/// Counts the figures of an app from one committed state.
public struct PurchaseReport: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var environment = AppStoreEnvironment.production
    public var periods: FigurePeriods
    /// The only product that counts; `nil` for all.
    public var product: String?
    /// The maximum number of originals that are read; `nil` for all.
    public var mostOriginals: Int?

    public init(app: String, periods: FigurePeriods) { (self.app, self.periods) = (app, periods) }

    /// - Returns: `nil` if the app has more originals than may be read.
    public func answer(_ reader: LedgerTransaction) throws -> FiguresFold? {
        if let most = mostOriginals, try reader.hasOriginals(app, environment, beyond: most) { return nil }
        var fold = FiguresFold(periods, product: product)
        try reader.forEachOriginal(app, environment, isNamed: false) { fold.add($0) }
        return fold
    }
}

extension LedgerTransaction {
    /// The originals of a page: a weekly subscription of ten years has five hundred rows.
    private static let page = 200

    /// The originals of an app, in an environment or in all.
    private func originals(
        _ app: String, _ environment: AppStoreEnvironment?
    ) throws(LedgerStorageError) -> (condition: String, parameters: [LedgerValue]) {
        let key = LedgerValue.integer(try self.app(app).key)
        guard let environment else { return ("app_key = ?1", [key]) }
        // -1 for an environment that no purchase has.
        return ("app_key = ?1 AND environment = ?2", [key, .integer(try environments.key(of: environment) ?? -1)])
    }

    fileprivate func hasOriginals(
        _ app: String, _ environment: AppStoreEnvironment, beyond most: Int
    ) throws(LedgerStorageError) -> Bool {
        let (condition, parameters) = try originals(app, environment)
        return try !connection.rows(
            "SELECT 1 FROM originals WHERE \(condition) ORDER BY original_key LIMIT 1 OFFSET \(most)", parameters
        ).isEmpty
    }

    /// Calls the body with the rows of each original. Each page takes four statements.
    fileprivate func forEachOriginal(
        _ app: String, _ environment: AppStoreEnvironment?, isNamed: Bool, _ body: ([ExportedPurchase]) throws -> Void
    ) throws {
        let (condition, parameters) = try originals(app, environment)
        let count = parameters.count
        let page = """
            WHERE \(condition) AND original_key > ?\(count + 1) ORDER BY original_key LIMIT ?\(count + 2)
            """
        var last: Int64 = 0
        while true {
            let originals = try OriginalRow.all(
                page, parameters + [.integer(last), .integer(Int64(Self.page))], connection)
            guard let end = originals.last else { return }
            last = end.key
            let rows = try transactions.rows(ofOriginals: padded(originals.map(\.key)))
            let names = isNamed ? try owners(of: rows) : [:]
            var histories = try HistoryReader(transaction: self).histories(originals, rows, [])
            try addNews(to: &histories)
            for history in histories {
                let owners = Dictionary(
                    history.records.map { ($0.row.transactionID, $0.row.ownerKey) }, uniquingKeysWith: { $1 })
                var exported = history.exported
                for place in exported.indices {
                    exported[place].customerID = owners[exported[place].transactionID]?.flatMap { names[$0] }
                }
                if !exported.isEmpty { try body(exported) }
            }
        }
    }

    /// As many keys as a page has, so that every page is read by the same statement.
    private func padded<Key>(_ keys: [Key]) -> [Key] {
        keys.last.map { keys + Array(repeating: $0, count: max(0, Self.page - keys.count)) } ?? []
    }

    private func addNews(to histories: inout [PurchaseHistory]) throws(LedgerStorageError) {
        var places: [Int64: [ExactText: [Int]]] = [:]
        for (place, history) in histories.enumerated() where history.isSubscription {
            places[history.original.environment, default: [:]][history.key.transactionID, default: []].append(place)
        }
        for (environment, places) in places {
            let name = try environments.environment(environment)
            let keys = places.keys.map { ($0, RenewalKey(environment: name, originalTransactionID: $0)) }
            let news = try RenewalsTable(connection: connection).news(
                of: Dictionary(uniqueKeysWithValues: keys), environment: environment)
            for (id, news) in news {
                for place in places[id] ?? [] { histories[place].read(news) }
            }
        }
    }

    /// The names of the owners of transactions, after all merges.
    private func owners(of rows: [TransactionRow]) throws(LedgerStorageError) -> [Int64: String] {
        var rest = Set(rows.compactMap(\.ownerKey)).sorted()[...]
        var names: [Int64: String] = [:]
        while !rest.isEmpty {
            let keys = padded(Array(rest.prefix(Self.page)))
            rest = rest.dropFirst(Self.page)
            for customer in try CustomerRow.all(
                "WHERE customer_key IN (\(LedgerValue.places(keys.count)))", keys.map { .integer($0) }, connection)
            {
                names[customer.key] =
                    customer.mergedInto == nil ? customer.name : try customers.surviving(customer).name
            }
        }
        return names
    }
}
