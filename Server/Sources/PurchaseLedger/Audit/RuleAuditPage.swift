import PurchaseVerification

/// The rows of a page, and what the rules give.
struct RuleAuditPage {
    /// What pages list.
    enum Kind: CaseIterable { case originals, customers, grants, rows }

    let connection: any LedgerConnection
    private let transaction: LedgerTransaction
    private(set) var findings: [AuditFinding] = []
    /// The key of the last item; `nil` if there are no more.
    private(set) var last: [Int64]?

    init(_ connection: any LedgerConnection) {
        self.connection = connection
        transaction = LedgerTransaction(connection: connection, now: .epoch, registry: Registry(apps: []))
    }

    mutating func check(_ kind: Kind, after key: [Int64], limit: Int64) throws(LedgerStorageError) {
        let items = try items(of: kind, after: key, limit: limit)
        try check(kind, items)
        last = items.count < Int(limit) ? nil : items.last
    }

    /// Checks the items with given keys.
    mutating func check(_ kind: Kind, _ items: [[Int64]]) throws(LedgerStorageError) {
        for item in items {
            switch kind {
            case .originals: try checkOriginal(item[0])
            case .customers: try checkCustomer(item[0])
            case .grants: try checkGrant(item[0])
            case .rows: try checkSource(of: item)
            }
        }
    }

    /// The keys of a page, in order.
    private func items(of kind: Kind, after key: [Int64], limit: Int64) throws(LedgerStorageError) -> [[Int64]] {
        let (columns, source): ([String], String) =
            switch kind {
            case .originals: (["original_key"], "originals")
            case .customers: (["customer_key"], "customers")
            case .grants: (["grant_key"], "hand_grants")
            case .rows: (["customer_key", "product_key", "environment", "ground"], "entitlements")
            }
        let list = columns.joined(separator: ", ")
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let condition = key.isEmpty ? "" : "WHERE (\(list)) > (\(places))"
        var items: [[Int64]] = []
        for row in try connection.rows(
            "SELECT \(list) FROM \(source) \(condition) ORDER BY \(list) LIMIT \(limit)", key.map(LedgerValue.integer))
        {
            var reader = row.reader
            var item: [Int64] = []
            for _ in columns { item.append(try reader.integer()) }
            items.append(item)
        }
        return items
    }

    /// A customer's entitlement to a product.
    private struct Chain: Hashable {
        let customer: Int64
        let product: Int64
        let environment: Int64
    }

    // MARK: Originals

    private mutating func checkOriginal(_ key: Int64) throws(LedgerStorageError) {
        let original = try OriginalsTable(connection: connection).row(key)
        let app = RegistryApp(key: original.appKey, settings: RegisteredApp(id: "", bundleIDs: []))
        let identities = CustomerIdentities(transaction, app: app)
        let open = OpenHistories(transaction, app: app, identities)
        let history = open.histories[try open.append(original)]
        let inputs = try PurchaseInputs(history, identities, connection)
        let rows = PurchaseRows(of: try checkedValue(inputs, original))
        for record in history.records {
            let owner = rows.owners[record.facts.key]
            guard owner?.customer?.rawValue != record.row.ownerKey || owner?.reason != record.row.ownerReason
            else { continue }
            add("the owner of transaction \(record.facts.key.transactionID)", try name(owner?.customer?.rawValue))
        }
        var expected: [Chain: EntitlementRow] = [:]
        for access in rows.access {
            guard let chain = chain(access.customer, access.product, history) else { continue }
            expected[chain] =
                switch access.row {
                case .access(let timeline, let kind):
                    EntitlementRow(
                        timeline, kind, of: chain.customer, product: chain.product, environment: chain.environment,
                        ground: key)
                case .note(let reason):
                    EntitlementRow(
                        note: reason, of: chain.customer, product: chain.product, environment: chain.environment,
                        ground: key)
                }
        }
        let claimants = Set(history.acts.flatMap { [$0.customerKey, $0.formerKey].compactMap(\.self) })
        try compare(
            expected, try EntitlementRow.all("WHERE ground = ?1", [.integer(key)], connection), ofGround: key,
            maybeNoted: claimants)
        try checkSeatAccess(history, Ownership(owners: rows.owners))
        try checkLot(rows, inputs.takes, history)
        for pass in rows.passes {
            guard let chain = chain(pass.customer, pass.product, history),
                try transaction.entitlements.row(
                    chain.customer, product: chain.product, environment: chain.environment,
                    ground: EntitlementRow.passGround) == nil
            else { continue }
            add("the chain of pass \(pass.transaction?.transactionID.string ?? "")", "access of its owner")
        }
    }

    /// The value of a purchase, after it was written and read.
    private mutating func checkedValue(
        _ inputs: PurchaseInputs, _ original: OriginalRow
    ) throws(LedgerStorageError) -> PurchaseState {
        let state = PurchaseState(inputs)
        do throws(FactsDecodingError) {
            let read = try PurchaseState(encoded: state.encoded())
            if read != state { add("the value of original \(original.originalID)", "another one after reading it") }
            return read
        } catch {
            add("the value of original \(original.originalID)", "readable, and it is not: \(error)")
            return state
        }
    }

    /// Compares the lot, and the part of each customer's balance.
    private mutating func checkLot(
        _ rows: PurchaseRows, _ takes: [CustomerNumber: Int64], _ history: PurchaseHistory
    ) throws(LedgerStorageError) {
        let (key, id) = (history.original.key, history.original.originalID)
        let expected = rows.lot.flatMap { lot in
            chain(lot.lot.owner, lot.product, history).map { chain in
                var numbered = lot.lot
                numbered.product = chain.product
                return LotRow(numbered, ground: key, environment: chain.environment)
            }
        }
        let found = try LotsTable(connection: connection).row(key)
        if found != expected { add("the lot of original \(id)", expected.map { "\($0)" }) }
        for (customer, amount) in rows.amounts
        where found.map({ $0.part(of: customer.rawValue, taken: takes[customer] ?? 0) }) != amount {
            add("the units of original \(id) for \(try name(customer.rawValue) ?? "")", "\(amount)")
        }
    }

    private mutating func checkSeatAccess(
        _ history: PurchaseHistory, _ ownership: Ownership
    ) throws(LedgerStorageError) {
        let (key, seats) = (history.original.key, SeatsTable(connection: connection))
        let expected = try seats.isClaimed(original: key) ? history.seatAccessRows(ownership) : []
        let found = try SeatAccessTable(connection: connection).rows(original: key)
        let sorted = expected.sorted { $0.productKey < $1.productKey }
        guard !sorted.elementsEqual(found, by: { $0.values == $1.values }) else { return }
        add("the access of the seats of original \(history.original.originalID)", "\(sorted.count) rows")
    }

    private func chain(_ customer: CustomerNumber, _ productID: ExactText, _ history: PurchaseHistory) -> Chain? {
        history.records.first { ExactText($0.productID) == productID }.map {
            Chain(customer: customer.rawValue, product: $0.row.productKey, environment: $0.row.environment)
        }
    }

    private func row(of grounds: [AccessGround], _ chain: Chain, ground: Int64) -> EntitlementRow? {
        grounds.joined.map {
            EntitlementRow(
                $0.timeline, $0.kind, of: chain.customer, product: chain.product, environment: chain.environment,
                ground: ground)
        }
    }

    /// - Parameter maybeNoted: those who claimed the original or had it transferred to them. A note that it belongs to
    ///   another customer stays although the rules explain to the latest former owners only, or the purchase was
    ///   another customer's from the beginning.
    private mutating func compare(
        _ expected: [Chain: EntitlementRow], _ rows: [EntitlementRow], ofGround ground: Int64, maybeNoted: Set<Int64>
    ) throws(LedgerStorageError) {
        var found: [Chain: EntitlementRow] = [:]
        for row in rows {
            found[Chain(customer: row.customerKey, product: row.productKey, environment: row.environment)] = row
        }
        for chain in Set(expected.keys).union(found.keys) where expected[chain] != found[chain] {
            if maybeNoted.contains(chain.customer), expected[chain] == nil,
                try found[chain].map({ row throws(LedgerStorageError) in try isNote(row) }) ?? false
            {
                continue
            }
            try add(chain, ground, expected[chain])
        }
    }

    /// Whether a row only says that the purchase belongs to another customer.
    private func isNote(_ row: EntitlementRow) throws(LedgerStorageError) -> Bool {
        guard let timeline = row.timeline else { return row.reason == .ownedByAnother && row.balance == 0 }
        let steps = try AccessTimeline(encoded: timeline, environment: .production).steps
        return steps.allSatisfy { $0.reason == .ownedByAnother }
    }

    // MARK: Passes, grants and balances

    /// The conditions by which the indexes of lots find those of a customer.
    private static let available = ["available > 0", "available = 0"]

    private mutating func checkCustomer(_ customer: Int64) throws(LedgerStorageError) {
        let chains = """
            SELECT DISTINCT product_key, environment FROM transactions
            WHERE kind = 'non_renewing' AND owner_key = ?1 ORDER BY product_key, environment
            """
        for chain in try self.chains(chains, of: customer) { try checkChain(chain) }
        let balances = """
            SELECT product_key, environment FROM lots WHERE customer_key = ?1 AND \(Self.available[0])
            UNION SELECT product_key, environment FROM lots WHERE customer_key = ?1 AND \(Self.available[1])
            UNION SELECT product_key, environment FROM takes JOIN lots ON lots.ground = takes.ground
            WHERE takes.customer_key = ?1 ORDER BY product_key, environment
            """
        for chain in try self.chains(balances, of: customer) { try checkBalance(chain) }
    }

    private func chains(_ sql: String, of customer: Int64) throws(LedgerStorageError) -> [Chain] {
        var chains: [Chain] = []
        for row in try connection.rows(sql, [.integer(customer)]) {
            var reader = row.reader
            chains.append(
                Chain(customer: customer, product: try reader.integer(), environment: try reader.integer()))
        }
        return chains
    }

    private mutating func checkChain(_ chain: Chain) throws(LedgerStorageError) {
        var purchases: [OwnedPurchase] = []
        var revocations: [HandRevocation] = []
        var originals: Set<Int64> = []
        for row in try transaction.transactions.passes(
            of: chain.customer, product: chain.product, environment: chain.environment)
        where originals.insert(row.originalKey).inserted {
            let original = try OriginalsTable(connection: connection).row(row.originalKey)
            let history = try HistoryReader(transaction: transaction).history(original)
            for holder in history.holders {
                purchases += history.purchases(of: holder, .stored(history))
                revocations += history.handRevocations(of: holder)
            }
        }
        let customer = CustomerNumber(rawValue: chain.customer)
        let entitlements = CustomerEntitlements(
            EntitlementInput(customer: customer, purchases: purchases, revocations: revocations))
        let isErased = try transaction.customers.row(chain.customer).name == nil
        let product = ExactText(try transaction.products.id(chain.product))
        let grounds = entitlements.grounds.filter { $0.source == .passes && $0.productID == product }
        let expected = isErased ? nil : row(of: grounds, chain, ground: EntitlementRow.passGround)
        let found = try transaction.entitlements.row(
            chain.customer, product: chain.product, environment: chain.environment, ground: EntitlementRow.passGround)
        if expected != found { try add(chain, EntitlementRow.passGround, expected) }
    }

    private mutating func checkGrant(_ key: Int64) throws(LedgerStorageError) {
        let table = HandGrantsTable(connection: connection)
        guard let grant = try table.row(key: key), grant.kind == .grant,
            let details = try JournalTable(connection: connection).row(key: grant.entryKey)?.details,
            let kind = ProductKind(
                rawValue: try grant.source == nil
                    ? GrantAddedDetails(encoded: details).kind : GroundAddedDetails(encoded: details).kind),
            try transaction.customers.row(grant.customerKey).name != nil
        else { return }
        let (handGrant, revocations) = try table.grant(
            grant, kind: kind, product: try transaction.products.id(grant.productKey),
            environment: try transaction.environments.environment(grant.environment))
        let entitlements = CustomerEntitlements(
            EntitlementInput(
                customer: handGrant.customer, purchases: [], grants: [handGrant], revocations: revocations))
        let chain = Chain(customer: grant.customerKey, product: grant.productKey, environment: grant.environment)
        let found = try transaction.entitlements.row(
            chain.customer, product: chain.product, environment: chain.environment, ground: -key)
        let expected = row(of: entitlements.grounds, chain, ground: -key)
        if expected != found { try add(chain, -key, expected) }
        let takes = try TakesTable(connection: connection).units(of: -key)
        let lot = entitlements.lots.first.flatMap {
            LotRow(
                $0, ground: -key, product: chain.product, environment: chain.environment,
                taken: takes[chain.customer] ?? 0)
        }
        if try LotsTable(connection: connection).row(-key) != lot {
            add("the lot of the grant \(grant.id.text)", lot.map { "\($0)" })
        }
    }

    private mutating func checkBalance(_ chain: Chain) throws(LedgerStorageError) {
        guard try transaction.customers.row(chain.customer).name != nil else { return }
        let columns = LotRow.table.columns.split(separator: ", ").map { "lots.\($0)" }.joined(separator: ", ")
        let own = Self.available.map { condition in
            """
            SELECT \(columns), COALESCE(takes.units, 0) FROM lots
            LEFT JOIN takes ON takes.ground = lots.ground AND takes.customer_key = ?1
            WHERE lots.customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND \(condition)
            """
        }
        let foreign = """
            SELECT \(columns), takes.units FROM takes JOIN lots ON lots.ground = takes.ground
            WHERE takes.customer_key = ?1 AND lots.customer_key <> ?1 AND product_key = ?2 AND environment = ?3
            """
        var lots: [LotRow] = []
        var balance = ConsumableBalance()
        for sql in own + [foreign] {
            for row in try connection.rows(
                sql, [.integer(chain.customer), .integer(chain.product), .integer(chain.environment)])
            {
                var reader = row.reader
                let (lot, taken) = (try LotRow(&reader), try reader.integer())
                balance = balance + lot.part(of: chain.customer, taken: taken)
                if lot.customerKey == chain.customer { lots.append(lot) }
            }
        }
        var expected = EntitlementRow(
            balance: (balance.remaining, balance.shortfall), of: chain.customer, product: chain.product,
            environment: chain.environment)
        if balance.remaining == 0 {
            let newest = lots.max {
                ($0.purchasedAt, $0.reason?.rawValue ?? "") < ($1.purchasedAt, $1.reason?.rawValue ?? "")
            }
            expected.reason = newest.map { $0.reason ?? .consumed } ?? .ownedByAnother
        }
        let found = try transaction.entitlements.row(
            chain.customer, product: chain.product, environment: chain.environment, ground: EntitlementRow.wholeGround)
        if expected != found { try add(chain, EntitlementRow.wholeGround, expected) }
    }

    /// Checks that a row has something from which the rules can give it.
    private mutating func checkSource(of item: [Int64]) throws(LedgerStorageError) {
        let chain = Chain(customer: item[0], product: item[1], environment: item[2])
        let sql =
            switch item[3] {
            case EntitlementRow.wholeGround:
                """
                SELECT 1 FROM lots
                WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND \(Self.available[0])
                UNION SELECT 1 FROM lots
                WHERE customer_key = ?1 AND product_key = ?2 AND environment = ?3 AND \(Self.available[1])
                UNION SELECT 1 FROM takes JOIN lots ON lots.ground = takes.ground
                WHERE takes.customer_key = ?1 AND product_key = ?2 AND environment = ?3
                """
            case EntitlementRow.passGround:
                """
                SELECT 1 FROM transactions WHERE kind = 'non_renewing' AND owner_key = ?1 AND product_key = ?2
                AND environment = ?3 LIMIT 1
                """
            case 1...: "SELECT 1 FROM originals WHERE original_key = ?1"
            default: "SELECT 1 FROM hand_grants WHERE grant_key = ?1"
            }
        let isOfOne = item[3] > 0 || item[3] < 0 && item[3] != EntitlementRow.passGround
        let parameters = isOfOne ? [LedgerValue.integer(abs(item[3]))] : item.prefix(3).map(LedgerValue.integer)
        if try connection.rows(sql, parameters).isEmpty { try add(chain, item[3], nil) }
    }

    // MARK: Findings

    private mutating func add(_ subject: String, _ expected: String?) {
        findings.append(
            AuditFinding(kind: .ruleDiffers, detail: "\(subject): by the rules it is \(expected ?? "nothing")"))
    }

    private mutating func add(_ chain: Chain, _ ground: Int64, _ expected: EntitlementRow?) throws(LedgerStorageError) {
        let product = try transaction.products.id(chain.product)
        let content = try expected.map { row throws(LedgerStorageError) in
            guard let timeline = row.timeline else {
                return
                    "a balance of \(row.balance), a shortfall of \(row.shortfall), \(row.reason?.rawValue ?? "no reason")"
            }
            let environment = try transaction.environments.environment(row.environment)
            return try AccessTimeline(encoded: timeline, environment: environment).steps.map {
                "\($0.reason?.rawValue ?? "access") from \($0.at)"
            }.joined(separator: ", ")
        }
        add("the entitlement of customer \(try name(chain.customer) ?? "") to \(product), ground \(ground)", content)
    }

    private func name(_ customer: Int64?) throws(LedgerStorageError) -> String? {
        try customer.map { key throws(LedgerStorageError) in
            try transaction.customers.row(key).reference.text
        }
    }
}
