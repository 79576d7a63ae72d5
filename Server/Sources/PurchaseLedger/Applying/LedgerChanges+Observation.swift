import PurchaseVerification

import struct Foundation.UUID

/// What verified evidence and the App Store's answers state, merged into the facts.
extension LedgerChanges {
    /// Merges the statements of evidence into the facts. A transaction without a product is skipped: it could not be
    /// shown or counted.
    func observe(_ observation: Observation, evidence: Int64) throws(LedgerStorageError) {
        for facts in observation.transactionFacts where facts.productID != nil {
            try observe(facts, evidence: evidence)
        }
        for statement in observation.renewals { try observe(statement, evidence: evidence) }
        for statement in observation.statuses { try observe(statement, evidence: evidence) }
    }

    private func observe(_ facts: ObservedTransaction, evidence: Int64) throws(LedgerStorageError) {
        if let erased = transaction.erasures?.transactions[facts.key] { return try claim(erased: erased) }
        let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
        if let place = try place(of: facts.key, environment: environment) {
            var record = open.histories[place.history].records[place.record]
            guard !record.isErased else { return }
            let merged = record.facts.merged(with: facts)
            guard merged !== record.facts else {
                // The settings can name its product while its turn to be counted has not come (`CountPurchases`).
                guard record.row.kind == nil else { return }
                open.histories[place.history].records[place.record] = try open.described(record)
                return
            }
            record.contradictions = record.facts.contradictions(with: facts)
            record.facts = merged
            record.row.evidenceKey = evidence
            open.histories[place.history].records[place.record] = try open.described(record)
            if merged.original != open.histories[place.history].key {
                try correctOriginal(of: place, environment: environment)
            } else if record.formerFacts?.kind != .autoRenewable, merged.kind == .autoRenewable {
                try open.readRenewal(of: place.history)
            }
            return
        }
        let index = try open.history(
            of: facts.original, environment: environment, isSubscription: facts.kind == .autoRenewable)
        let row = TransactionRow(
            originalKey: open.histories[index].original.key, environment: environment, key: facts.key, productKey: 0,
            facts: [],
            evidenceKey: evidence, knownAt: transaction.now)
        open.histories[index].records.append(
            try open.described(TransactionRecord(new: row, facts: facts, productID: "")))
    }

    /// Merges unsigned statements of the App Store about transactions that evidence has proven.
    func observe(_ answer: AppStoreAnswer?) throws(LedgerStorageError) {
        guard let answer else { return }
        for cancellation in answer.cancellations { try observe(cancellation) }
        for token in answer.statedTokens { try observe(token) }
    }

    /// Merges an account token that the App Store stated without a signature. Any signed transaction with a token takes
    /// precedence.
    func observe(_ stated: AppStoreAnswer.StatedToken) throws(LedgerStorageError) {
        guard let token = AppAccountToken(stated.token) else { return }
        let environment = try transaction.environments.keyToWrite(of: stated.key.environment)
        guard let place = try place(of: stated.key, environment: environment) else { return }
        let record = open.histories[place.history].records[place.record]
        guard !record.isErased else { return }
        var fields = TransactionFields(
            TransactionStatement(key: stated.key, source: .transactionReceipt, stamp: .epoch))
        fields.accountToken = StampedToken(stamp: .epoch, token: token)
        let merged = record.facts.merged(with: ObservedTransaction(key: stated.key, fields: fields))
        guard merged !== record.facts else { return }
        open.histories[place.history].records[place.record].facts = merged
    }

    /// Merges a cancellation that the App Store stated without a signature. It has the weight of a receipt's
    /// cancellation, and applies only to a transaction that evidence has proven; the evidence of the transaction's
    /// facts stays the same.
    func observe(_ cancellation: AppStoreAnswer.Cancellation) throws(LedgerStorageError) {
        let key = cancellation.key
        let environment = try transaction.environments.keyToWrite(of: key.environment)
        guard let place = try place(of: key, environment: environment) else { return }
        let record = open.histories[place.history].records[place.record]
        guard !record.isErased else { return }
        var statement = TransactionStatement(key: key, source: .transactionReceipt, stamp: .epoch)
        (statement.cancellation, statement.isUpgraded) = (cancellation.date, cancellation.isUpgrade ?? false)
        let merged = record.facts.merged(with: statement)
        guard merged !== record.facts else { return }
        open.histories[place.history].records[place.record].facts = merged
        open.histories[place.history].records[place.record].isCancelledByHint = true
    }

    /// Adds the transaction of an erased customer, if it is missing: it affects the owners of the original's other
    /// transactions.
    func claim(erased facts: ObservedTransaction) throws(LedgerStorageError) {
        let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
        guard try place(of: facts.key, environment: environment) == nil else { return }
        let index = try open.history(
            of: facts.original, environment: environment, isSubscription: facts.kind == .autoRenewable)
        var row = TransactionRow(
            originalKey: open.histories[index].original.key, environment: environment, key: facts.key, productKey: 0,
            facts: [], evidenceKey: 0, knownAt: transaction.erasures?.times[facts.key] ?? transaction.now)
        row.kind = facts.kind
        open.histories[index].records.append(TransactionRecord(new: row, facts: facts, productID: ""))
    }

    /// Moves a transaction and its acts to the original that better evidence names.
    private func correctOriginal(
        of place: (history: Int, record: Int), environment: Int64
    ) throws(LedgerStorageError) {
        let record = open.histories[place.history].records.remove(at: place.record)
        open.histories[place.history].departed += [record]
        open.histories[place.history].isTouched = true
        let index = try open.history(
            of: record.facts.original, environment: environment, isSubscription: record.facts.kind == .autoRenewable)
        open.histories[index].records.append(record)
        let acts = open.histories[place.history].acts.filter { $0.transaction == record.facts.key }
        open.histories[place.history].acts.removeAll { $0.transaction == record.facts.key }
        open.histories[place.history].departedActs += acts
        open.histories[index].acts = (open.histories[index].acts + acts).sorted { $0.entry ?? .max < $1.entry ?? .max }
    }

    private func observe(_ statement: RenewalStatement, evidence: Int64) throws(LedgerStorageError) {
        let environment = try transaction.environments.keyToWrite(of: statement.key.environment)
        let table = RenewalsTable(connection: connection)
        let former = try table.facts(statement.key, environment: environment)
        let merged = former.map { $0.merged(with: statement) } ?? ObservedRenewal(statement)
        guard merged !== former else { return }
        try table.write(statement, environment: environment, evidence: evidence)
        for index in try openHistories(of: statement.key, environment: environment) {
            open.histories[index].renewal = merged
            open.histories[index].formerRenewal = former
        }
    }

    private func observe(_ statement: StatusStatement, evidence: Int64) throws(LedgerStorageError) {
        let environment = try transaction.environments.keyToWrite(of: statement.key.environment)
        let table = RenewalsTable(connection: connection)
        let former = try table.news(statement.key, environment: environment).statuses
        let holder = statement.holder.name
        let merged = former[holder].map { SignedStatus.newer($0, statement.status) } ?? statement.status
        guard merged != former[holder] else { return }
        try table.write(statement, environment: environment, evidence: evidence)
        for index in try openHistories(of: statement.key, environment: environment) {
            open.histories[index].formerStatuses = former
            open.histories[index].statuses = former
            open.histories[index].statuses[holder] = merged
        }
    }

    /// Opens the histories of a subscription of which something new is signed.
    private func openHistories(of key: RenewalKey, environment: Int64) throws(LedgerStorageError) -> [Int] {
        hasNewRenewal = true
        for original in try open.originals(of: key, environment: environment) { _ = try history(original) }
        return open.histories.indices.filter { index in
            open.histories[index].key.environment == key.environment
                && open.histories[index].key.transactionID == key.originalTransactionID
        }
    }

    /// Applies the settings again to records that they did not agree with before.
    func describeAgain(original key: Int64) throws(LedgerStorageError) {
        let index = try history(key)
        for place in open.histories[index].records.indices {
            open.histories[index].records[place] = try open.described(open.histories[index].records[place])
        }
    }
}
