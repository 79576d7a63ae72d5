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
    /// Evidence that was accepted when it came, and is refused now.
    var findings: [AuditFinding] = []

    /// Applies one entry.
    ///
    /// - Parameters:
    ///   - row: the entry.
    ///   - evidence: its evidence.
    mutating func apply(_ row: JournalRow, evidence: ReplayedEvidence?) throws {
        guard let leaf = JournalLeaf(bytes: row.leaf), let details = row.details else { return }
        if leaf.kind == .settings { try register(leaf, details) }
        let app = registry.app(leaf.app)
        let transaction = LedgerTransaction(connection: connection, now: leaf.at, registry: registry)
        var copy = row
        (copy.customerKey, copy.orderKey, copy.transactionKey, copy.evidenceKey) = (nil, nil, nil, nil)
        // What did not verify proved nothing then, so its bytes are not needed, and are not always there.
        let isUnverified = try UnverifiedEvidence(leaf.kind, details: details) != nil
        let examined = (isUnverified ? nil : evidence?.bytes).map {
            EvidenceExaminer(verifier: verifier).examine($0, app: app?.settings)
        }
        try check(examined, leaf, details)
        // Every piece of evidence takes its number.
        if examined == nil, let evidence {
            let row = EvidenceRow(sha256: evidence.row.sha256, size: evidence.row.size, content: nil)
            _ = try EvidenceTable(connection: connection).insertIfNew(row)
        }
        let step = Step(
            transaction: transaction, leaf: leaf, details: details, verifier: verifier,
            evidence: try examined.map { ($0, try EvidenceStore(connection: connection).keep($0.stored).evidence.key) })
        let key = try JournalTable(connection: connection).insert(copy)
        let entry = JournalEntry(key: key, id: row.id, leafHash: [])
        try step.apply(entry, app)
    }

    /// Notes accepted evidence that is refused now, mostly because another certificate is trusted than then.
    private mutating func check(_ evidence: ExaminedEvidence?, _ leaf: JournalLeaf, _ details: [UInt8]) throws {
        guard case .failure(let error) = evidence?.verified else { return }
        var wasAccepted = leaf.code == DecisionCode.accepted.rawValue
        if leaf.kind == .claim, !wasAccepted {
            wasAccepted = try ClaimDetails(encoded: details).outcomes.contains(where: \.binds)
        }
        guard wasAccepted else { return }
        findings.append(
            AuditFinding(
                kind: .evidenceRefused,
                detail: "\((leaf.evidence ?? []).hexadecimal) of entry \(leaf.id.text): \(error.code.rawValue)"))
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

/// The evidence of an entry.
struct ReplayedEvidence: Sendable {
    let row: EvidenceRow
    /// As it was sent; `nil` if it was erased, changed or stored in part.
    let bytes: [UInt8]?
}

/// One entry that is applied.
private struct Step {
    let transaction: LedgerTransaction
    let leaf: JournalLeaf
    let details: [UInt8]
    let verifier: PurchaseVerifier
    let evidence: (examined: ExaminedEvidence, key: Int64)?

    private var connection: any LedgerConnection { transaction.connection }

    func apply(_ entry: JournalEntry, _ app: RegistryApp?) throws {
        switch leaf.kind {
        case .rules:
            try RulesTable(connection: connection).insertIfNew(RulesDetails(encoded: details).version, entry: entry.key)
        case .appStoreAnswer, .customerErased, .decision: return
        case .keyCreated: try createKey(try KeyCreatedDetails(encoded: details))
        case .keyRevoked:
            _ = try APIKeysTable(connection: connection).revoke(
                try KeyRevokedDetails(encoded: details).keyID, at: leaf.at)
        case .evidence:
            try observe(entry, app, claims: nil)
        default:
            guard let app else { return }
            try apply(entry, of: app)
        }
    }

    private func apply(_ entry: JournalEntry, of app: RegistryApp) throws {
        switch leaf.kind {
        case .claim: try observe(entry, app, claims: try ClaimDetails(encoded: details))
        case .orderCreated: try createOrder(try OrderCreatedDetails(encoded: details), entry, app)
        case .orderCancelled:
            try changeOrder {
                $0.status = .cancelled; $0.closedAt = leaf.at
            }
        case .orderFulfilled:
            try take(try OrderFulfilledDetails(encoded: details).takes)
            try changeOrder {
                $0.status = .fulfilled; $0.fulfilledAt = leaf.at
            }
        case .consumed: try consume(try ConsumedDetails(encoded: details), entry, app)
        case .tokenAssigned: try assign(try TokenAssignedDetails(encoded: details), entry, app)
        case .purchaseMoved: try move(try PurchaseMovedDetails(encoded: details), entry, app)
        case .customerMerged: try merge(try CustomerMergedDetails(encoded: details), entry, app)
        case .handGranted: try grant(try HandGrantedDetails(encoded: details), entry, app)
        case .handRevoked: try revoke(try HandRevokedDetails(encoded: details), entry, app)
        case .handLifted: try lift(try HandLiftedDetails(encoded: details), entry, app)
        case .testersChanged: try changeTester(try TestersChangedDetails(encoded: details), entry, app)
        case .settings:
            try RegisterSettings.countAgain(app, transaction, entry)
            let bound = try BundlesTable(connection: connection).all().filter { $0.appKey == app.key }
            for (bundleID, _) in bound {
                try RegisterSettings(apps: [], verifier: verifier).observeHeld(bundleID, of: app, transaction, entry)
            }
        case .bundleBound: try bind(try BundleBoundDetails(encoded: details), entry, app)
        case .evidence, .appStoreAnswer, .customerErased, .keyCreated, .keyRevoked, .rules, .decision: return
        }
    }

    // MARK: Evidence and claims

    private func observe(_ entry: JournalEntry, _ app: RegistryApp?, claims: ClaimDetails?) throws {
        let examined = evidence?.examined
        let observer = examined.flatMap { transaction.registry.observer(of: $0, claimedFor: app) }
        let customer = try claims?.customer.flatMap { name in try app.flatMap { try self.customer(name, $0) } }
        guard let target = observer ?? app else {
            try transaction.hold(examined, evidence?.key, entry)
            return
        }
        let changes = LedgerChanges(transaction, app: target)
        if observer != nil, let evidence, let examined, case .success(let observation) = examined.verified {
            try changes.observe(observation, evidence: evidence.key)
        }
        var named: TransactionKey?
        for outcome in claims?.outcomes ?? [] where outcome.binds {
            guard let customer, let key = outcome.key,
                let place = try changes.place(
                    of: key, environment: try transaction.environments.keyToWrite(of: key.environment))
            else { continue }
            let kind = changes.histories[place.history].records[place.record].row.kind
            let policy = claims.flatMap { TransferPolicy(rawValue: $0.transfer) } ?? .deny
            let mayTransfer = OwnershipAct.mayTransfer(under: policy, kind: kind)
            changes.claim(key, by: customer.key, mayTransfer: mayTransfer, in: place.history)
            if claims?.order != nil { named = key }
        }
        try changes.own()
        try changes.settleOrders(except: leaf.order == nil ? nil : named)
        if let named, let outcome = claims?.outcomes.first, let id = outcome.order.flatMap({ UUID(uuidString: $0) }),
            id == leaf.order, let order = try transaction.orders.row(id: id), order.status == .created,
            let place = try changes.place(
                of: named, environment: try transaction.environments.keyToWrite(of: named.environment))
        {
            changes.pay(order, with: changes.histories[place.history].records[place.record])
        }
        try finish(changes, entry)
        try transaction.hold(examined, evidence?.key, entry)
    }

    private func finish(_ changes: LedgerChanges, _ entry: JournalEntry) throws(LedgerStorageError) {
        try changes.writeFacts()
        try changes.writeEntitlements()
        try changes.writeRest(entry)
    }

    /// Computes originals again after a change.
    private func settle(_ entry: JournalEntry, _ app: RegistryApp, _ originals: [Int64]) throws {
        guard !originals.isEmpty else { return }
        let changes = LedgerChanges(transaction, app: app)
        for original in originals { _ = try changes.history(original) }
        try changes.own()
        try changes.settleOrders()
        try finish(changes, entry)
    }

    private func bind(_ details: BundleBoundDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        try BundlesTable(connection: connection).insert(details.bundleID, appKey: app.key, entry: entry.key)
        try RegisterSettings(apps: [], verifier: verifier).observeHeld(details.bundleID, of: app, transaction, entry)
    }

    // MARK: Customers

    /// The customer of a name. A new one has the reference of the leaf.
    private func customer(_ name: String, _ app: RegistryApp) throws -> CustomerRow? {
        if let known = try transaction.customer(name, app) { return known }
        guard let reference = leaf.customer else { return nil }
        return try transaction.customers.insert(CustomerRow(appKey: app.key, reference: reference, name: name))
    }

    private func existing(_ name: String, _ app: RegistryApp) throws -> CustomerRow {
        guard let customer = try customer(name, app) else {
            throw LedgerStorageError(.corrupt, "entry \(leaf.id) names no customer")
        }
        return customer
    }

    private func assign(_ details: TokenAssignedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        guard let token = UUID(uuidString: details.token) else { return }
        let tokens = AccountTokensTable(connection: connection)
        let isNew = try tokens.customer(of: token, appKey: app.key) == nil
        if isNew { try tokens.insert(token, appKey: app.key, customer: customer.key, entry: entry.key) }
        try transaction.customers.setToken(token, of: customer.key)
        guard isNew else { return }
        try settle(entry, app, try transaction.transactions.originals(token: token, appKey: app.key))
    }

    private func merge(_ details: CustomerMergedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let target = try existing(details.into, app)
        guard let customer = try transaction.customer(details.from, app), customer.key != target.key else { return }
        try MergeCustomers.apply(customer, into: target, transaction, app, entry)
    }

    private func changeTester(_ details: TestersChangedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        let table = TestersTable(connection: connection)
        _ =
            details.isTester
            ? try table.insert(customer.key, appKey: app.key, entry: entry.key)
            : try table.delete(customer.key, appKey: app.key)
    }

    private func move(_ details: PurchaseMovedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.to, app)
        let former = try details.from.flatMap { try transaction.customer($0, app) }
        let environment = AppStoreEnvironment(details.environment)
        let key = TransactionKey(
            environment: environment, transactionID: ExactText(details.transactionID), second: details.second ?? 0)
        let changes = LedgerChanges(transaction, app: app)
        guard
            let place = try changes.place(
                of: key, environment: try transaction.environments.keyToWrite(of: environment))
        else { return }
        changes.move(key, from: former?.key, to: customer.key, in: place.history)
        try changes.own()
        try changes.settleOrders()
        try finish(changes, entry)
    }

    // MARK: Orders and use

    private func createOrder(_ details: OrderCreatedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        guard let id = leaf.order, let token = UUID(uuidString: details.token) else { return }
        let product = try transaction.products.keyToWrite(details.productID, appKey: app.key, at: leaf.at)
        var environment: Int64?
        if let name = details.environment {
            environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(name))
        }
        _ = try transaction.orders.insert(
            OrderRow(
                id: id, appKey: app.key, customerKey: customer.key, productKey: product, quantity: details.quantity,
                environment: environment, token: token, metadata: details.metadata, createdAt: leaf.at,
                expiresAt: Timestamp(millisecondsSince1970: details.expiresAt)))
        guard details.assignsToken else { return }
        try AccountTokensTable(connection: connection).insert(
            token, appKey: app.key, customer: customer.key, entry: entry.key)
        try transaction.customers.setToken(token, of: customer.key)
    }

    private func changeOrder(_ change: (inout OrderRow) -> Void) throws {
        guard let id = leaf.order, var row = try transaction.orders.row(id: id) else { return }
        let former = row.status
        change(&row)
        try transaction.orders.update(row, from: former)
    }

    private func consume(_ details: ConsumedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        try take(details.takes)
        try ConsumptionsTable(connection: connection).insert(
            ConsumptionRow(
                customerKey: customer.key, consumptionID: details.consumptionID, entryKey: entry.key,
                productKey: try transaction.products.keyToWrite(details.productID, appKey: app.key, at: leaf.at),
                environment: try transaction.environments.keyToWrite(of: AppStoreEnvironment(details.environment)),
                quantity: details.quantity))
    }

    /// Takes the recorded units from the recorded lots.
    private func take(_ takes: [LotTake]) throws {
        var lots: [(lot: LotRow, units: Int64)] = []
        for take in takes {
            guard let ground = try ground(of: take), let lot = try LotsTable(connection: connection).row(ground) else {
                throw LedgerStorageError(.corrupt, "entry \(leaf.id) takes from a lot that is not there")
            }
            lots.append((lot, take.units))
        }
        guard let owner = lots.first?.lot.customerKey else { return }
        _ = try LotTaking(transaction: transaction).take(lots, by: owner)
    }

    private func ground(of take: LotTake) throws -> Int64? {
        if let id = take.grantID.flatMap({ UUID(uuidString: $0) }) {
            return try HandGrantsTable(connection: connection).row(id: id).map { -$0.key }
        }
        let environment = AppStoreEnvironment(take.environment)
        let key = OriginalKey(
            environment: environment, transactionID: ExactText(take.originalID ?? ""), second: take.second ?? 0)
        return try OriginalsTable(connection: connection)
            .row(key, environment: try transaction.environments.keyToWrite(of: environment))?.key
    }

    // MARK: By hand

    private func grant(_ details: HandGrantedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        guard let id = UUID(uuidString: details.grantID), let kind = ProductKind(rawValue: details.kind) else { return }
        let row = try HandGrantsTable(connection: connection).insert(
            HandGrantRow(
                id: id, appKey: app.key, customerKey: customer.key,
                productKey: try transaction.products.keyToWrite(details.productID, appKey: app.key, at: leaf.at),
                environment: try transaction.environments.keyToWrite(of: AppStoreEnvironment(details.environment)),
                kind: .grant, quantity: details.quantity,
                startsAt: Timestamp(millisecondsSince1970: details.startsAt),
                endsAt: details.endsAt.map { Timestamp(millisecondsSince1970: $0) }, entryKey: entry.key))
        _ = try HandGrantWriter(transaction: transaction, app: app).write(row, kind: kind)
    }

    private func revoke(_ details: HandRevokedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        guard let id = UUID(uuidString: details.revocationID) else { return }
        let grants = HandGrantsTable(connection: connection)
        var row = HandGrantRow(
            id: id, appKey: app.key, customerKey: customer.key, productKey: 0, environment: 0, kind: .revocation,
            quantity: 0, startsAt: leaf.at, endsAt: nil, entryKey: entry.key)
        if let transactionID = details.transactionID, let name = details.environment {
            let environment = AppStoreEnvironment(name)
            let key = TransactionKey(
                environment: environment, transactionID: ExactText(transactionID), second: details.second ?? 0)
            guard
                let purchase = try transaction.transactions.row(
                    key, environment: try transaction.environments.keyToWrite(of: environment))
            else { return }
            (row.productKey, row.environment) = (purchase.productKey, purchase.environment)
            row.revokedOriginal = purchase.originalKey
            row.revokedShared = try purchase.observed(in: environment).ownership.isFamilyShared
        } else if let grantID = details.grantID.flatMap({ UUID(uuidString: $0) }),
            let grant = try grants.row(id: grantID)
        {
            (row.productKey, row.environment, row.revokedGrant) = (grant.productKey, grant.environment, grant.key)
        }
        row = try grants.insert(row)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .handRevoked, reason: nil, customer: customer.key)
    }

    private func lift(_ details: HandLiftedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let grants = HandGrantsTable(connection: connection)
        guard let id = UUID(uuidString: details.id), var row = try grants.row(id: id) else { return }
        row.liftedAt = leaf.at
        try grants.lift(row.key, at: leaf.at)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .handLifted, reason: nil, customer: row.customerKey)
    }

    private func createKey(_ details: KeyCreatedDetails) throws {
        let app = try transaction.appToWrite(leaf.app)
        try APIKeysTable(connection: connection).insert(
            APIKeyRow(
                id: details.keyID, appKey: app.key, name: details.name,
                scopes: Set(details.scopes.compactMap(APIKeyScope.init(rawValue:))),
                secretSHA256: [UInt8](hexadecimal: details.secretSHA256), createdAt: leaf.at))
    }
}

extension ClaimDetails.Outcome {
    /// The transaction.
    var key: TransactionKey? {
        TransactionKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID), second: second ?? 0)
    }
}
