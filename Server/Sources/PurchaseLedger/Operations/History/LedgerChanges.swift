import PurchaseVerification

import struct Foundation.UUID

/// What one transaction of the database changes in facts, owners, entitlements and orders.
///
/// The order is: observe, act, own; decide; write the facts; append the journal entry; write the rest, which names the entry.
/// Until the facts are written, everything is in memory.
final class LedgerChanges {
    let transaction: LedgerTransaction
    let app: RegistryApp
    private(set) var histories: [PurchaseHistory] = []
    /// Orders that are paid, refunded or restored by this change, by their key.
    private(set) var orders: [Int64: (former: OrderRow, row: OrderRow)] = [:]
    /// Renewal info of subscriptions that no transaction is known of yet.
    private var renewals: [(facts: ObservedRenewal, environment: Int64)] = []
    /// Whose each token is, as it was assigned.
    private var tokens: [AppAccountToken: Int64?] = [:]
    /// The merges of customers that occur, by the customer who was merged.
    private var merges: [Int64: (target: Int64, entry: Int64)] = [:]

    init(_ transaction: LedgerTransaction, app: RegistryApp) {
        self.transaction = transaction
        self.app = app
    }

    var connection: any LedgerConnection { transaction.connection }

    // MARK: Observe

    /// Merges what evidence says into the facts. A transaction without a product is left out: it could not be shown or counted.
    func observe(_ observation: Observation, evidence: Int64) throws(LedgerStorageError) {
        for facts in observation.transactionFacts where facts.productID != nil {
            try observe(facts, evidence: evidence)
        }
        for statement in observation.renewals { try observe(statement, evidence: evidence) }
    }

    private func observe(_ facts: ObservedTransaction, evidence: Int64) throws(LedgerStorageError) {
        let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
        if let place = try place(of: facts.key, environment: environment) {
            var record = histories[place.history].records[place.record]
            let merged = record.facts.merged(with: facts)
            guard merged !== record.facts else { return }
            record.contradictions = record.facts.contradictions(with: facts)
            record.facts = merged
            record.row.evidenceKey = evidence
            guard merged.original == histories[place.history].key else {
                // Better evidence names another original.
                histories[place.history].records.remove(at: place.record)
                let index = try history(
                    of: merged.original, environment: environment, isSubscription: merged.kind == .autoRenewable)
                histories[index].records.append(try described(record))
                return
            }
            histories[place.history].records[place.record] = try described(record)
            return
        }
        let index = try history(
            of: facts.original, environment: environment, isSubscription: facts.kind == .autoRenewable)
        let row = TransactionRow(
            originalKey: histories[index].original.key, environment: environment, key: facts.key, productKey: 0,
            facts: [],
            evidenceKey: evidence, knownAt: transaction.now)
        histories[index].records.append(
            try described(TransactionRecord(new: row, facts: facts, productID: "")))
    }

    private func observe(_ statement: RenewalStatement, evidence: Int64) throws(LedgerStorageError) {
        let environment = try transaction.environments.keyToWrite(of: statement.key.environment)
        let table = RenewalsTable(connection: connection)
        let former = try table.facts(statement.key, environment: environment)
        let merged = former.map { $0.merged(with: statement) } ?? ObservedRenewal(statement)
        guard merged !== former else { return }
        try table.write(merged, environment: environment, evidence: evidence)
        for original in try OriginalsTable(connection: connection)
            .rows(id: statement.key.originalTransactionID.string, environment: environment)
        where !histories.contains(where: { $0.original.key == original.key }) {
            _ = try append(original)
        }
        for index in histories.indices
        where histories[index].key.environment == statement.key.environment
            && histories[index].key.transactionID == statement.key.originalTransactionID
        {
            histories[index].renewal = merged
            histories[index].formerRenewal = former
        }
    }

    /// A record with the columns that follow from its facts and the settings.
    private func described(_ record: TransactionRecord) throws(LedgerStorageError) -> TransactionRecord {
        var record = record
        let productID = record.facts.productID?.string ?? ""
        if record.row.productKey == 0 || ExactText(productID) != ExactText(record.productID) {
            record.productID = productID
            record.row.productKey = try transaction.products.keyToWrite(
                productID, appKey: app.key, at: transaction.now)
        }
        if record.row.kind == nil, let terms = app.settings.terms(of: record.facts) {
            (record.row.kind, record.row.duration) = (terms.kind, terms.duration)
        }
        return record
    }

    /// Reads the settings again for what they did not agree with before.
    func describeAgain(original key: Int64) throws(LedgerStorageError) {
        let index = try history(key)
        for place in histories[index].records.indices {
            histories[index].records[place] = try described(histories[index].records[place])
        }
    }

    // MARK: Histories

    /// The place of a known transaction, whose history is read if it was not yet.
    func place(
        of key: TransactionKey, environment: Int64
    ) throws(LedgerStorageError) -> (history: Int, record: Int)? {
        for index in histories.indices {
            if let record = histories[index].index(of: key) { return (index, record) }
        }
        guard let row = try transaction.transactions.row(key, environment: environment) else { return nil }
        let index = try history(row.originalKey)
        return histories[index].index(of: key).map { (index, $0) }
    }

    /// The position of the history of a stored original.
    func history(_ originalKey: Int64) throws(LedgerStorageError) -> Int {
        if let index = histories.firstIndex(where: { $0.original.key == originalKey }) { return index }
        return try append(try OriginalsTable(connection: connection).row(originalKey))
    }

    /// Reads the history of a stored original, and the merges of the customers who acted on it.
    private func append(_ original: OriginalRow) throws(LedgerStorageError) -> Int {
        let history = try HistoryReader(transaction: transaction).history(original)
        for act in history.acts where act.isMerged {
            for customer in [act.customerKey, act.formerKey].compactMap(\.self) { try readMerges(of: customer) }
        }
        histories.append(history)
        return histories.count - 1
    }

    private func history(of key: OriginalKey, environment: Int64, isSubscription: Bool) throws(LedgerStorageError)
        -> Int
    {
        if let index = histories.firstIndex(where: { $0.key == key }) { return index }
        if let original = try OriginalsTable(connection: connection).row(key, environment: environment) {
            return try history(original.key)
        }
        var history = PurchaseHistory(
            original: OriginalRow(key, environment: environment, appKey: app.key), key: key, records: [], acts: [])
        if isSubscription {
            history.renewal = try HistoryReader(transaction: transaction).renewal(key, environment: environment)
            history.formerRenewal = history.renewal
        }
        histories.append(history)
        return histories.count - 1
    }

    // MARK: Act and own

    /// Adds a claim that binds. One that repeats the last act of the original is left out.
    ///
    /// - Returns: whether the customer had claimed the transaction before.
    @discardableResult
    func claim(
        _ key: TransactionKey, by customer: Int64, mayTransfer: Bool, in index: Int
    ) -> Bool {
        let kind = mayTransfer ? OwnershipActKind.movingClaim : .claim
        let acts = histories[index].acts
        let isRepeated = acts.contains {
            $0.transaction == key && surviving($0.customerKey) == customer && $0.kind != .move
        }
        let isLast = acts.last.map { surviving($0.customerKey) == customer && $0.kind != .move } ?? false
        if isRepeated, kind == .claim || isLast { return true }
        histories[index].acts.append(RecordedAct(transaction: key, customerKey: customer, kind: kind))
        return isRepeated
    }

    /// Adds a transfer by an operator.
    func move(_ key: TransactionKey, from former: Int64?, to customer: Int64, in index: Int) {
        histories[index].acts.append(
            RecordedAct(transaction: key, customerKey: customer, formerKey: former, kind: .move))
    }

    /// Makes a history's entitlements be computed again.
    func touch(_ index: Int) { histories[index].isTouched = true }

    /// Reads the revocations of a history again.
    func readRevocations(_ index: Int) throws(LedgerStorageError) {
        histories[index].revocations = try HandGrantsTable(connection: connection)
            .revocations(ofOriginal: histories[index].original.key).map(HandRevocationOfPurchase.init)
        histories[index].isTouched = true
    }

    /// Computes the owners of every history that was read.
    func own() throws(LedgerStorageError) {
        for index in histories.indices {
            let tokens = try assignments(of: histories[index])
            for isShared in [false, true] {
                guard histories[index].records.contains(where: { $0.facts.ownership.isFamilyShared == isShared }) else {
                    continue
                }
                let owners = histories[index].ownership(isShared: isShared, tokens: tokens, merges: mergeActs).owners
                for place in histories[index].records.indices
                where histories[index].records[place].facts.ownership.isFamilyShared == isShared {
                    let owner = owners[histories[index].records[place].facts.key]
                    histories[index].records[place].row.ownerKey = owner?.customer?.rawValue
                    histories[index].records[place].row.ownerReason = owner?.reason
                }
            }
        }
    }

    /// The account tokens of a history that name a customer.
    func assignments(of history: PurchaseHistory) throws(LedgerStorageError) -> TokenAssignments {
        var assignments = TokenAssignments()
        for record in history.records {
            guard let token = record.facts.accountToken, let customer = try assignment(of: token) else { continue }
            do throws(TokenAssignments.TokenTaken) {
                try assignments.assign(token, to: CustomerNumber(rawValue: customer))
            } catch {
                throw LedgerStorageError(.corrupt, "an account token names two customers")
            }
        }
        return assignments
    }

    /// The customer whom an account token names, after all merges; `nil` if the token is not known.
    func customer(of token: AppAccountToken) throws(LedgerStorageError) -> Int64? {
        try assignment(of: token).map(surviving)
    }

    private func assignment(of token: AppAccountToken) throws(LedgerStorageError) -> Int64? {
        if let known = tokens[token] { return known }
        let assignment = try AccountTokensTable(connection: connection).assignment(of: token.uuid, appKey: app.key)
        if let assignment, assignment.isMerged { try readMerges(of: assignment.customer) }
        tokens[token] = .some(assignment?.customer)
        return assignment?.customer
    }

    /// Reads the merges of a customer, one after the other.
    private func readMerges(of customer: Int64) throws(LedgerStorageError) {
        var customer = customer
        while merges[customer] == nil {
            let row = try transaction.customers.row(customer)
            guard let target = row.mergedInto, let entry = row.mergeEntry else { return }
            merges[customer] = (target, entry)
            customer = target
        }
    }

    /// Whom a customer is by now, as far as merges were read.
    private func surviving(_ customer: Int64) -> Int64 {
        var customer = customer
        while let merge = merges[customer] { customer = merge.target }
        return customer
    }

    private var mergeActs: [OwnershipAct] {
        merges.map { customer, merge in
            OwnershipAct(
                entry: merge.entry,
                content: .merge(CustomerNumber(rawValue: customer), into: CustomerNumber(rawValue: merge.target)))
        }.sorted { $0.entry < $1.entry }
    }

    // MARK: Orders

    /// Pays an order with a transaction, in memory.
    func pay(_ order: OrderRow, with record: TransactionRecord) {
        var row = orders[order.key]?.row ?? order
        row.status = .paid
        row.paidAt = transaction.now
        paying[order.key] = record.facts.key
        orders[order.key] = (orders[order.key]?.former ?? order, row)
    }

    /// The transaction that pays an order. Its key is known once it is written.
    private(set) var paying: [Int64: TransactionKey] = [:]

    /// The order that a transaction paid before or pays now.
    func order(paidBy record: TransactionRecord) throws(LedgerStorageError) -> OrderRow? {
        if let key = paying.first(where: { $0.value == record.facts.key })?.key { return orders[key]?.row }
        guard !record.isNew else { return nil }
        return try transaction.orders.row(paidBy: record.row.key)
    }

    /// The id of the order that a transaction pays by this change.
    func orderPaid(by record: TransactionRecord) -> String? {
        paying.first { $0.value == record.facts.key }.flatMap { orders[$0.key]?.row.id.text }
    }

    /// Pays open orders with purchases that have their first owner now, and follows refunds.
    ///
    /// - Parameter named: a transaction whose claim names an order; it pays no other.
    func settleOrders(except named: TransactionKey? = nil) throws(LedgerStorageError) {
        for history in histories where history.records.contains(where: \.isChanged) {
            let copies = history.copies
            for record in history.records {
                if record.formerRow?.ownerKey == nil, let owner = record.row.ownerKey, record.facts.key != named,
                    !copies.contains(record.facts.key)
                {
                    try payOpenOrder(of: owner, with: record)
                }
                if let former = record.formerFacts, former.withdrawal != record.facts.withdrawal {
                    try followWithdrawal(of: record)
                }
            }
        }
    }

    private func payOpenOrder(of owner: Int64, with record: TransactionRecord) throws(LedgerStorageError) {
        guard record.row.kind != nil, record.facts.withdrawal == nil, let date = record.facts.purchaseDate else {
            return
        }
        let purchase = ClaimedPurchase(
            facts: record.facts, kind: record.row.kind, isCopy: false, hasPaidAnotherOrder: false)
        // Older orders that nobody pays could hide one behind them; a customer has few with a life that is not over.
        let open = try transaction.orders.open(of: owner, product: record.row.productKey, at: date, limit: 16)
        for order in open where orders[order.key] == nil {
            let terms = try terms(of: order, purchase: record)
            if terms.refusal(of: purchase) == nil {
                pay(order, with: record)
                return
            }
        }
    }

    /// What the decision needs to know of an order.
    func terms(of order: OrderRow, purchase record: TransactionRecord) throws(LedgerStorageError) -> OrderTerms {
        var environments: [AppStoreEnvironment] = []
        if let environment = order.environment {
            environments = [try transaction.environments.environment(environment)]
        } else {
            environments = [.production]
            let environment = record.facts.key.environment
            if environment == .sandbox {
                let testers = TestersTable(connection: connection)
                let isTester = try testers.contains(order.customerKey, appKey: app.key)
                if app.settings.sandboxAccess.counts(environment, isTester: isTester) {
                    environments.append(environment)
                }
            }
        }
        return OrderTerms(
            productID: ExactText(
                order.productKey == record.row.productKey
                    ? record.productID : try transaction.products.id(order.productKey)), quantity: order.quantity,
            environments: environments, createdAt: order.createdAt, expiresAt: order.expiresAt, status: order.status,
            isPaidByThis: order.paidBy.map { $0 == record.row.key } ?? false)
    }

    /// An order whose purchase is withdrawn as a whole is refunded, and back again. A receipt's cancellation of a subscription
    /// leaves it, since that may be an upgrade.
    private func followWithdrawal(of record: TransactionRecord) throws(LedgerStorageError) {
        guard let order = try order(paidBy: record) else { return }
        let withdrawal = record.facts.withdrawal
        let isCancelled = record.row.kind == .autoRenewable && withdrawal?.cause == .cancelled
        let isDivisible = record.row.kind == .consumable || record.row.kind == .nonRenewing
        let units = withdrawal?.units ?? 0
        let isRefunded = !isCancelled && units > 0 && (!isDivisible || units >= record.facts.quantity)
        var row = orders[order.key]?.row ?? order
        if isRefunded, row.status == .paid || row.status == .fulfilled {
            (row.status, row.closedAt) = (.refunded, transaction.now)
        } else if !isRefunded, row.status == .refunded {
            (row.status, row.closedAt) = (row.fulfilledAt == nil ? .paid : .fulfilled, nil)
        } else {
            return
        }
        orders[order.key] = (orders[order.key]?.former ?? order, row)
    }

    // MARK: Writing

    /// Writes originals and transactions with their owners.
    func writeFacts() throws(LedgerStorageError) {
        for index in histories.indices where histories[index].records.contains(where: \.isChanged) {
            if histories[index].isNew {
                histories[index].original = try OriginalsTable(connection: connection)
                    .insert(histories[index].original)
            }
            for place in histories[index].records.indices {
                histories[index].records[place].row.originalKey = histories[index].original.key
                guard histories[index].records[place].isChanged else { continue }
                histories[index].records[place].row.facts = histories[index].records[place].facts.encoded
                histories[index].records[place].row.token = histories[index].records[place].facts.accountToken?.uuid
                let row = histories[index].records[place].row
                if row.key == 0 {
                    histories[index].records[place].row.key = try transaction.transactions.insert(row)
                } else {
                    try transaction.transactions.update(row)
                }
            }
        }
    }

    /// Writes the entitlements of every history that changed. They need the facts in the database, and no journal entry.
    func writeEntitlements() throws(LedgerStorageError) {
        balances = []
        for history in histories {
            guard history.isChanged, !history.isNew else {
                balances.append([:])
                continue
            }
            let assignments = try assignments(of: history)
            let ownership = [false, true].map {
                history.ownership(isShared: $0, tokens: assignments, merges: mergeActs)
            }
            balances.append(try EntitlementWriter(transaction: transaction, app: app).write(history, ownership))
        }
    }

    /// Writes acts and orders, and the events of everything.
    func writeRest(_ entry: JournalEntry) throws(LedgerStorageError) {
        let events = EventWriter(transaction: transaction, app: app, entry: entry)
        for (index, history) in histories.enumerated() where !history.isNew {
            for act in history.acts where act.entry == nil {
                guard let place = history.index(of: act.transaction) else { continue }
                try OwnershipActsTable(connection: connection).insert(
                    OwnershipActRow(
                        originalKey: history.original.key, entryKey: entry.key,
                        transactionKey: history.records[place].row.key, customerKey: act.customerKey,
                        formerKey: act.formerKey, kind: act.kind))
            }
            if history.isChanged {
                try events.write(history, balances: balances.indices.contains(index) ? balances[index] : [:])
            }
        }
        for (former, row) in orders.values.sorted(by: { $0.row.key < $1.row.key }) {
            var row = row
            if let key = paying[row.key] {
                row.paidBy =
                    histories.lazy.compactMap { history in
                        history.index(of: key).map { history.records[$0].row.key }
                    }.first
            }
            try transaction.orders.update(row, from: former.status)
            try events.write(order: row, former: former)
        }
    }

    /// The balances after the change, by the place of the history.
    private var balances: [EntitlementWriter.Balances] = []

    /// The balance of a customer after the change, if a history changed it.
    func balance(of customer: Int64, in index: Int) -> (balance: Int64, shortfall: Int64)? {
        balances.indices.contains(index) ? balances[index][customer] : nil
    }
}

extension TransactionOwner {
    /// The rule that gave the transaction its owner, as the row stores it.
    fileprivate var reason: String? {
        guard customer != nil else { return nil }
        switch change {
        case .transfer: return "transfer"
        case .move: return "operator_move"
        case .merge: return "merge"
        case nil: break
        }
        switch ground {
        case .ownToken: return "account_token"
        case .inheritedToken: return "inherited_token"
        case .claim: return "claim"
        case .move: return "operator_move"
        case nil: return nil
        }
    }
}

extension AppAccountToken {
    /// The token as 16 bytes.
    var uuid: UUID {
        let bytes = [high, low].flatMap { word in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
        }
        return UUID(bytes: bytes) ?? UUID()
    }

    /// The token of 16 bytes.
    init(_ id: UUID) {
        let bytes = id.bytes
        self.init(
            high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
            low: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }
}

extension RegisteredApp {
    /// The kind and duration by which a purchase counts; `nil` if its product is not registered, or under another kind.
    func terms(of facts: ObservedTransaction) -> ProductTerms? {
        guard let productID = facts.productID?.string else { return nil }
        guard !products.isEmpty else {
            // How long a pass lasts only the settings can say.
            guard let kind = facts.kind, kind != .nonRenewing else { return nil }
            return ProductTerms(kind: kind)
        }
        guard let product = product(productID), facts.kind == nil || facts.kind == product.kind else { return nil }
        guard product.kind == .nonRenewing else { return ProductTerms(kind: product.kind) }
        return product.duration.map { ProductTerms(kind: .nonRenewing, duration: $0) }
    }
}
