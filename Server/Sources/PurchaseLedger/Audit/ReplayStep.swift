import PurchaseVerification

import struct Foundation.UUID

/// The replay of one entry.
struct ReplayStep {
    let transaction: LedgerTransaction
    let leaf: JournalLeaf
    let details: [UInt8]
    /// The decoded details of a claim.
    let claimDetails: ClaimDetails?
    let verifier: PurchaseVerifier
    /// Whether evidence is skipped, so that there are no facts, lots and entitlements of purchases.
    let isOfEntriesAlone: Bool
    let evidence: (examined: ExaminedEvidence, key: Int64)?
    let findings: ReplayFindings

    var connection: any LedgerConnection { transaction.connection }

    func apply(_ entry: JournalEntry, _ app: RegistryApp?) throws {
        switch leaf.kind {
        case .rules:
            let (rules, version) = (RulesTable(connection: connection), try RulesDetails(encoded: details).version)
            if let latest = try rules.latest(), latest > version {
                findings.add(impossible: leaf, "version \(version) of the rules comes after version \(latest)")
            }
            try rules.insertIfNew(version, entry: entry.key)
        case .recordContinued: return
        case .keyCreated: try createKey(try KeyCreatedDetails(encoded: details))
        case .keyRevoked:
            let key = try KeyRevokedDetails(encoded: details).keyID
            if try !APIKeysTable(connection: connection).revoke(key, at: leaf.at) {
                findings.add(impossible: leaf, "there is no valid key \(key) before it")
            }
        case .evidence:
            try observe(entry, app, claims: nil)
        case .notification:
            try observe(entry, app, claims: nil)
            try receive(try NotificationDetails(encoded: details), entry, app)
        default:
            guard let app else { return }
            try apply(entry, of: app)
        }
    }

    private func apply(_ entry: JournalEntry, of app: RegistryApp) throws {
        switch leaf.kind {
        case .claim: try claim(try claimDetails ?? ClaimDetails(encoded: details), entry, app)
        case .refusals: try refuse(try RefusalsDetails(encoded: details), app)
        case .appStoreAnswer: try answer(try AppStoreAnswerDetails(encoded: details), entry, app)
        case .decision: try decide(try DecisionDetails(encoded: details), entry, app)
        case .orderCreated:
            if transaction.erasures?.entries[leaf.id] != nil {
                // An erasure keeps only the token that it assigned.
                try applyErased(entry, app)
                return try assign(try TokenAssignedDetails(encoded: details), entry, app)
            }
            try createOrder(try OrderCreatedDetails(encoded: details), entry, app)
        case .orderCancelled:
            try requireOpenOrder()
            try changeOrder(entry, app) {
                $0.status = .cancelled; $0.closedAt = leaf.at
            }
        case .orderFulfilled:
            try requireOrder(besides: [.cancelled, .closed])
            try fulfilOrder(try OrderFulfilledDetails(encoded: details), entry, app)
        case .orderClosed:
            try requireOrder(besides: [.cancelled, .closed])
            try changeOrder(entry, app, reason: try OrderClosedDetails(encoded: details).reason) {
                $0.status = .closed; $0.closedAt = leaf.at
            }
        case .consumed: try consume(try ConsumedDetails(encoded: details), entry, app)
        case .tokenAssigned: try assign(try TokenAssignedDetails(encoded: details), entry, app)
        case .purchaseMoved: try move(try PurchaseMovedDetails(encoded: details), entry, app)
        case .customerMerged: try merge(try CustomerMergedDetails(encoded: details), entry, app)
        case .grantAdded: try grant(try GrantAddedDetails(encoded: details), entry, app)
        case .revocationAdded: try revoke(try RevocationAddedDetails(encoded: details), entry, app)
        case .groundAdded: try add(try GroundAddedDetails(encoded: details), entry, app)
        case .groundEnded: try end(try GroundEndedDetails(encoded: details), entry, app)
        case .actLifted: try lift(try ActLiftedDetails(encoded: details), entry, app)
        case .seatClaimed: try claimSeat(try SeatClaimedDetails(encoded: details), entry, app)
        case .seatUnclaimed: try unclaimSeat(try SeatUnclaimedDetails(encoded: details), entry, app)
        case .consumptionConsent: try consumptionConsent(try ConsumptionConsentDetails(encoded: details), entry, app)
        case .consumptionAnswered: try answer(try ConsumptionAnsweredDetails(encoded: details), entry, app)
        case .extensionRequested: try extend(try ExtensionRequestedDetails(encoded: details), entry, app)
        case .extensionAnswered: try answer(try ExtensionAnsweredDetails(encoded: details), entry, app)
        case .offerSigned: try sign(try OfferSignedDetails(encoded: details), entry, app)
        case .customerErased: try erase(try CustomerErasedDetails(encoded: details), entry, app)
        case .testersChanged: try changeTester(try TestersChangedDetails(encoded: details), entry, app)
        case .settings:
            try RegisterSettings.countAgain(app, transaction, entry)
            let bound = try BundlesTable(connection: connection).all().filter { $0.appKey == app.key }
            for (bundleID, _) in bound {
                try RegisterSettings(apps: [], verifier: verifier).observeHeld(bundleID, of: app, transaction, entry)
            }
        case .bundleBound: try bind(try BundleBoundDetails(encoded: details), entry, app)
        // Later signed data states the token.
        case .tokenSetAtApple: return
        case .evidence, .notification, .keyCreated, .keyRevoked, .rules, .recordContinued: return
        }
    }

    // MARK: Evidence and claims

    func observe(
        _ entry: JournalEntry, _ app: RegistryApp?, claims: ClaimDetails?,
        stated: DecisionDetails? = nil
    ) throws {
        var input = EvidenceInput(
            app: app, evidence?.examined, claims: try claims.map { try recorded($0, app) } ?? .nothing)
        input.storedEvidence = evidence?.key
        input.answer = stated?.answered
        (input.isBudgeted, input.isAnnounced) = (false, claims?.imported?.announced ?? true)
        let write = EvidenceWrite(input, transaction)
        try write.decide()
        if let claims { try requirePriorClaims(claims, write.changes) }
        var delivery: ImportedDelivery?
        if let takes = claims?.imported?.takes, let customer = write.parties.customer, !isOfEntriesAlone {
            delivery = ImportedDelivery(.delivered, to: customer, write.changes)
            try delivery?.repeatTakes(takes, transaction) { try isOfAnother($0, customer.key) }
        }
        try write.finish(entry)
        try delivery?.write(
            LedgerEvents(transaction, app: write.changes.app, entry: entry, isAnnounced: input.isAnnounced),
            transaction)
        if let named = write.named { try note(named, entry) }
    }

    /// The claims of an entry, which are applied and not decided again.
    private func recorded(_ claims: ClaimDetails, _ app: RegistryApp?) throws -> EvidenceInput.Claims {
        let named = leaf.order == nil ? nil : claims.transactionForOrder
        let paid = claims.outcomes.first { $0.key == named }?.order.flatMap { UUID(uuidString: $0) }
        return .recorded(
            EvidenceInput.RecordedClaims(
                customer: try app.flatMap { try customer(claims.customer, $0) }, outcomes: claims.outcomes,
                transfer: TransferPolicy(rawValue: claims.transfer) ?? .deny,
                named: named, paid: paid == leaf.order ? paid : nil, order: leaf.order))
    }

    /// Computes originals again after a change.
    private func settle(_ entry: JournalEntry, _ app: RegistryApp, _ originals: [Int64]) throws {
        guard !originals.isEmpty else { return }
        let changes = LedgerChanges(transaction, app: app)
        for original in originals { _ = try changes.history(original) }
        try changes.settle()
        try changes.finish(entry)
    }

    private func receive(
        _ details: NotificationDetails, _ entry: JournalEntry, _ app: RegistryApp?
    ) throws(LedgerStorageError) {
        guard let app else { return }
        let environment = try transaction.environments.keyToWrite(
            ofStated: details.environment.map { AppStoreEnvironment($0) })
        let table = NotificationsTable(connection: connection)
        guard try table.entry(details.notificationID, appKey: app.key, environment: environment) == nil else {
            findings.add(impossible: leaf, "the notification was received before")
            return
        }
        try table.insert(
            details.notificationID, type: details.type, subtype: details.subtype, appKey: app.key,
            environment: environment, entry: entry.key)
        guard !isOfEntriesAlone else { return }
        let events = NotificationEvents(transaction: transaction, app: app, entry: entry)
        try events.write(details)
        if let decision = keptDecision(details) { try events.closeRequests(decision) }
        try SeatWriter(transaction: transaction, app: app, entry: entry).unclaim(details)
    }

    /// Refused evidence proves nothing, but its customer and its rows exist.
    private func refuse(_ details: RefusalsDetails, _ app: RegistryApp) throws {
        if let name = details.customer { _ = try customer(name, app) }
        for hash in details.kept {
            let row = EvidenceRow(sha256: [UInt8](hexadecimal: hash), size: 0, content: nil)
            _ = try EvidenceTable(connection: connection).keyToWrite(row)
        }
    }

    private func bind(_ details: BundleBoundDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        try BundlesTable(connection: connection).insert(details.bundleID, appKey: app.key, entry: entry.key)
        try RegisterSettings(apps: [], verifier: verifier).observeHeld(details.bundleID, of: app, transaction, entry)
    }

    // MARK: Customers

    /// The customer with a name or, without one, the leaf's customer. A new customer gets the reference in the leaf.
    func customer(_ name: String?, _ app: RegistryApp) throws -> CustomerRow? {
        if let name, let known = try transaction.customer(name, app) { return known }
        guard let reference = leaf.customer else { return nil }
        guard transaction.erasures?.customers.keys.contains(reference) ?? false else {
            guard let name else { return try self.customer(reference: reference) }
            return try transaction.customers.insert(CustomerRow(appKey: app.key, reference: reference, name: name))
        }
        if let known = try self.customer(reference: reference) { return known }
        let erased = try transaction.customers.insert(CustomerRow(appKey: app.key, reference: reference, name: nil))
        try AccountTokensTable(connection: connection).insert(
            reference, appKey: app.key, customer: erased.key, entry: 0)
        return erased
    }

    /// The customer with a reference, after all merges.
    private func customer(reference: UUID) throws -> CustomerRow? {
        guard let row = try transaction.customers.row(reference: reference.bytes) else { return nil }
        return try transaction.customers.surviving(row)
    }

    private func customer(referenceText text: String) throws -> CustomerRow? {
        try UUID(uuidString: text).flatMap { try customer(reference: $0) }
    }

    func existing(_ name: String?, _ app: RegistryApp) throws -> CustomerRow {
        guard let customer = try customer(name, app) else {
            throw LedgerStorageError(.corrupt, "entry \(leaf.id) names no customer")
        }
        return customer
    }

    func assign(_ details: TokenAssignedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        guard let token = UUID(uuidString: details.token) else { return }
        let tokens = AccountTokensTable(connection: connection)
        // The customer was erased later. Until then, the token decided who owned what belongs to others.
        if details.customer.isEmpty {
            guard let erased = try self.customer(nil, app),
                try tokens.customer(of: token, appKey: app.key) == nil
            else { return }
            try tokens.insert(token, appKey: app.key, customer: erased.key, entry: entry.key)
            return try settle(entry, app, try transaction.transactions.originals(token: token, appKey: app.key))
        }
        let customer = try existing(details.customer, app)
        let known = try tokens.customer(of: token, appKey: app.key)
        if let known, known != customer.key {
            findings.add(impossible: leaf, "the token belongs to another customer")
        }
        let isNew = known == nil
        if isNew { try tokens.insert(token, appKey: app.key, customer: customer.key, entry: entry.key) }
        try transaction.customers.setToken(token, of: customer.key)
        let events = events(entry, app)
        try transaction.tell(events.event(.tokenAssigned), to: customer.key)
        guard isNew else { return }
        try settle(entry, app, try transaction.transactions.originals(token: token, appKey: app.key))
    }

    private func merge(_ details: CustomerMergedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let target = try existing(details.into, app)
        guard let customer = try customer(referenceText: details.from), customer.key != target.key else {
            if !hasErasures { findings.add(impossible: leaf, "the merged customer is not known, or was merged before") }
            return
        }
        try MergeCustomers.apply(customer, into: target, transaction, app, entry, reason: details.reason)
    }

    private func changeTester(_ details: TestersChangedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        let table = TestersTable(connection: connection)
        let isChanged =
            details.isTester
            ? try table.insert(customer.key, appKey: app.key, entry: entry.key)
            : try table.delete(customer.key, appKey: app.key)
        if !isChanged {
            findings.add(impossible: leaf, "the customer is \(details.isTester ? "a tester already" : "no tester")")
        }
    }

    private func move(_ details: PurchaseMovedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.to, app)
        let former = try details.from.flatMap { try self.customer(referenceText: $0) }
        let environment = AppStoreEnvironment(details.environment)
        let key = TransactionKey(
            environment: environment, transactionID: ExactText(details.transactionID), second: details.second ?? 0)
        let changes = LedgerChanges(transaction, app: app)
        if let erased = transaction.erasures?.transactions[key] { try changes.claim(erased: erased) }
        guard
            let place = try changes.place(
                of: key, environment: try transaction.environments.keyToWrite(of: environment))
        else {
            if !isOfEntriesAlone { findings.add(impossible: leaf, "the purchase is not known") }
            return
        }
        changes.move(key, from: former?.key, to: customer.key, in: place.history)
        try changes.settle()
        try changes.finish(entry)
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
