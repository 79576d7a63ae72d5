import PurchaseVerification

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
