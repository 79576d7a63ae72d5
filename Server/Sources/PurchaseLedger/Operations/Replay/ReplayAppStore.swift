import PurchaseVerification

import struct Foundation.UUID

/// Claims that are checked with the App Store.
extension ReplayStep {
    /// Applies a claim. A waiting claim changes nothing.
    func claim(_ details: ClaimDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let waits = isWithoutEffect
        if !waits { try observe(entry, app, claims: details) }
        if transaction.erasures?.entries[leaf.id] == nil {
            let customer = try self.customer(details.customer, app)
            if let customer, details.guest == true { try transaction.customers.setGuest(true, of: customer.key) }
            try transaction.note(entry, details, unlessAccepted: leaf.code, app, customer)
        }
        guard details.appStore != nil, let customer = try self.customer(details.customer, app),
            let sha256 = leaf.evidence
        else { return }
        // The customer that the leaf names: later merges do not change the row.
        let named = try leaf.customer.flatMap { try transaction.customers.row(reference: $0.bytes) } ?? customer
        guard let evidence = try EvidenceTable(connection: connection).row(sha256: sha256) else { return }
        try AppStoreClaimsTable(connection: connection).insert(
            AppStoreClaimRow(
                entry.key, appKey: app.key, customer: named.key, evidence: evidence.key, waits: waits, at: leaf.at))
    }

    /// Applies the decision about a claim that waited.
    func decide(_ details: DecisionDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        if !isWithoutEffect {
            try observe(entry, app, claims: details.decided, stated: details)
        }
        guard let row = try RecordAppStoreAnswer.row(ofClaim: details.claim, transaction) else {
            if !hasErasures { findings.add(impossible: leaf, "no claim \(details.claim) waits for a decision") }
            return
        }
        if !row.waits || row.answerEntry == nil || row.decisionEntry != nil {
            findings.add(impossible: leaf, "the claim \(details.claim) does not wait for a decision")
        }
        let customer = try transaction.customers.surviving(try transaction.customers.row(row.customerKey))
        let events = LedgerEvents(transaction, app: app, entry: entry)
        try transaction.tell(events.decided(details.claim, code: leaf.code), to: customer.key)
        try AppStoreClaimsTable(connection: connection).finish(
            row, answer: row.answerEntry ?? 0, decision: entry.key)
    }

    /// Whether the entry records a claim that changes nothing.
    var isWithoutEffect: Bool { DecisionCode(rawValue: leaf.code)?.isWithoutEffect ?? false }
}

extension DecisionDetails {
    /// The App Store's answer that the decision applied.
    var answered: AnsweredClaim? {
        guard let claim = UUID(uuidString: claim) else { return nil }
        var answer = AppStoreAnswer()
        answer.cancellations = cancellations
        for token in tokens { answer.tokens[token.key] = AppAccountToken(token.token) }
        return AnsweredClaim(claim: claim, answer: answer)
    }
}
