import PurchaseVerification

/// Claims of seats, and their ends by the backend.
extension ReplayStep {
    func claimSeat(_ details: SeatClaimedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let unclaimed = UnclaimedSeatsTable(connection: connection)
        guard !details.customer.isEmpty else {
            // The member was erased. The id of the seat never lives again.
            _ = try self.customer(nil, app)
            return try unclaimed.insertIfNew(details.seatID, appKey: app.key, entry: entry.key)
        }
        let customer = try existing(details.customer, app)
        guard let original = try original(details.original, entry, app) else {
            if !isOfEntriesAlone { findings.add(impossible: leaf, "the subscription is not known") }
            return
        }
        let seats = SeatsTable(connection: connection)
        let isKnown =
            try seats.row(id: details.seatID, appKey: app.key) != nil
            || unclaimed.contains(details.seatID, appKey: app.key, environment: original.environment)
            || seats.row(request: details.requestID, original: original.key) != nil
        guard !isKnown else {
            if !hasErasures { findings.add(impossible: leaf, "the seat was claimed or unclaimed before") }
            return
        }
        try SeatWriter(transaction: transaction, app: app, entry: entry).claim(
            SeatRow(
                entryKey: entry.key, appKey: app.key, originalKey: original.key, seatID: details.seatID,
                customerKey: customer.key, requestID: details.requestID, appTransactionID: details.appTransactionID,
                claimedAt: leaf.at))
    }

    func unclaimSeat(_ details: SeatUnclaimedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        guard !isOfEntriesAlone else { return }
        guard let seat = try SeatsTable(connection: connection).row(id: details.seatID, appKey: app.key),
            seat.endedAt == nil
        else {
            if !hasErasures { findings.add(impossible: leaf, "there is no claim of the seat before it") }
            return
        }
        try SeatWriter(transaction: transaction, app: app, entry: entry).end(seat, at: leaf.at)
    }

    /// A subscription. All of its transactions can have belonged to an erased customer.
    func original(
        _ key: OriginalKey, _ entry: JournalEntry, _ app: RegistryApp
    ) throws -> OriginalRow? {
        let environment = try transaction.environments.keyToWrite(of: key.environment)
        let table = OriginalsTable(connection: connection)
        if let row = try table.row(key, environment: environment) { return row }
        let erased = transaction.erasures?.transactions.values.filter { $0.original == key } ?? []
        guard !erased.isEmpty else { return nil }
        let changes = LedgerChanges(transaction, app: app)
        for facts in erased.sorted(by: { $0.key.transactionID < $1.key.transactionID }) {
            try changes.claim(erased: facts)
        }
        try changes.settle()
        try changes.finish(entry)
        return try table.row(key, environment: environment)
    }
}

/// The consent to tell Apple of use, answers to refund requests, extensions, and signed offers.
extension ReplayStep {
    func consumptionConsent(_ details: ConsumptionConsentDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        try ConsumptionConsentsTable(connection: connection).write(
            ConsumptionConsentRow(
                customerKey: customer.key, isGiven: details.isGiven, statedAt: leaf.at, entryKey: entry.key))
    }

    func answer(_ details: ConsumptionAnsweredDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        _ = try customer(nil, app)
        guard !isOfEntriesAlone else { return }
        let environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(details.environment))
        let requests = ConsumptionRequestsTable(connection: connection)
        let request =
            try NotificationsTable(connection: connection)
            .entry(details.notificationID, appKey: app.key, environment: environment)
            .flatMap { key throws(LedgerStorageError) in try requests.row(key) }
        guard let request, request.answerEntry == nil else {
            if !hasErasures { findings.add(impossible: leaf, "there is no open refund request before it") }
            return
        }
        try requests.finish(request.entryKey, details.isSent ? .sent : .declined, answer: entry.key)
    }

    func extend(_ details: ExtensionRequestedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        guard let original = try original(details.original, entry, app) else {
            if !isOfEntriesAlone { findings.add(impossible: leaf, "the subscription is not known") }
            return
        }
        let extensions = ExtensionsTable(connection: connection)
        guard try extensions.row(request: details.requestID, appKey: app.key) == nil else {
            return findings.add(impossible: leaf, "the extension was requested before")
        }
        try extensions.insert(
            ExtensionRow(
                entryKey: entry.key, appKey: app.key, originalKey: original.key, requestID: details.requestID,
                days: details.days, reason: ExtensionReasonCode(rawValue: details.extensionReason) ?? .undeclared,
                at: leaf.at))
    }

    func answer(_ details: ExtensionAnsweredDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        guard !isOfEntriesAlone else { return }
        let extensions = ExtensionsTable(connection: connection)
        guard let request = try extensions.row(request: details.requestID, appKey: app.key), request.state == .open,
            let state = ExtensionState(rawValue: details.state), state != .open
        else { return findings.add(impossible: leaf, "there is no open request for an extension before it") }
        try extensions.finish(request.entryKey, state, answer: entry.key)
    }

    func sign(_ details: OfferSignedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        guard let kind = OfferKind(rawValue: details.offerKind) else { return }
        try OfferSignaturesTable(connection: connection).insert(
            details.offerID, kind, customer: customer.key, at: leaf.at, entry: entry.key)
    }
}
