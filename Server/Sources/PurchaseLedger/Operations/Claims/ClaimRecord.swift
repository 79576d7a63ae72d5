import PurchaseVerification

extension ClaimDetails.Outcome {
    /// The result for one transaction.
    init(_ record: TransactionRecord, code: String, binds: Bool, from guest: CustomerRow?, order: String?) {
        self.init(
            environment: record.facts.key.environment.name, transactionID: record.facts.key.transactionID.string,
            second: record.facts.key.second == 0 ? nil : record.facts.key.second, code: code, binds: binds,
            from: guest?.reference.text, order: order)
    }
}

extension ClaimDetails.Outcome {
    var key: TransactionKey? {
        TransactionKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(transactionID), second: second ?? 0)
    }
}

extension ClaimDetails {
    /// The transaction that the claim sent for its order, whether it binds or not.
    var transactionForOrder: TransactionKey? {
        guard order != nil else { return nil }
        let isOnly = outcomes.count == 1 && imported == nil
        return outcomes.first { isOnly || $0.transactionID.isSame(as: transactionID) }?.key
    }
}

extension Registry {
    /// The app that observes evidence: the app with its bundle id, if that accepts the environment. Renewal info has no
    /// bundle id, and is observed by the app that received it.
    func observer(of evidence: ExaminedEvidence, claimedFor app: RegistryApp?) -> RegistryApp? {
        guard let bundleID = evidence.bundleID else { return evidence.kind == .signedRenewalInfo ? app : nil }
        guard let owner = self.app(bundleID: bundleID), let environment = evidence.environment,
            owner.settings.environments.contains(environment)
        else { return nil }
        return owner
    }
}

extension LedgerTransaction {
    /// The customer that a refused claim names, or the customer of its order.
    func customer(
        namedBy claim: ClaimFields, _ app: RegistryApp
    ) throws(LedgerStorageError) -> CustomerRow? {
        guard let name = claim.customerID else { return try ClaimParties(of: claim, self, app).customer }
        return ExactText(name).isIdentifier ? try customerToWrite(name, app, isGuest: claim.isGuest) : nil
    }

    /// Notes a claim by the transaction that its request names, if it is not accepted and its entry refers to none.
    func note(
        _ entry: JournalEntry, _ details: ClaimDetails, unlessAccepted code: String, _ app: RegistryApp,
        _ customer: CustomerRow?
    ) throws(LedgerStorageError) {
        guard code != DecisionCode.accepted.rawValue, !details.isRestore, details.outcomes.isEmpty, let customer,
            let id = details.transactionID, ExactText(id).isIdentifier
        else { return }
        try RefusedClaimsTable(connection: connection).insert(
            id, entry: entry.key, app: app.key, customer: customer.key, at: now)
    }

    /// Stores genuine evidence whose bundle id belongs to no app, so that it is observed once an app has the bundle id.
    func hold(
        _ evidence: ExaminedEvidence?, _ key: Int64?, _ entry: JournalEntry
    ) throws(LedgerStorageError) {
        guard let evidence, let key, case .success = evidence.verified, let bundleID = evidence.bundleID,
            bundleID.isIdentifier, registry.app(bundleID: bundleID) == nil
        else { return }
        try HeldEvidenceTable(connection: connection).insert(key, entry: entry.key, bundleID: bundleID.string)
    }
}

/// Restarts a write as another one, after everything that it wrote was undone.
struct RevisedOperation<Operation: LedgerOperation>: Error {
    let operation: Operation
}
