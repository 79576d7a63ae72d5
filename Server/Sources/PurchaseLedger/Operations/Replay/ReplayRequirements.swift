import PurchaseVerification

import struct Foundation.UUID

/// What an entry needs before it.
extension ReplayStep {
    /// Whether customers were erased: entries may refer to some that have no details any more.
    var hasErasures: Bool { transaction.erasures.map { !$0.customers.isEmpty } ?? false }

    /// Checks that something gave each purchase that was refused as `already_claimed` to somebody before: an earlier
    /// claim or transfer, an account token, another transaction of the purchase, or an erased owner.
    func requirePriorClaims(_ claims: ClaimDetails, _ changes: LedgerChanges) throws {
        guard !isOfEntriesAlone else { return }
        for outcome in claims.outcomes where outcome.code.isSame(as: DecisionCode.alreadyClaimed.rawValue) {
            guard let key = outcome.key,
                let place = try changes.place(
                    of: key, environment: try transaction.environments.keyToWrite(of: key.environment))
            else { continue }
            let history = changes.histories[place.history]
            if history.records[place.record].isErased || history.records.count > 1 { continue }
            if history.acts.contains(where: { $0.entry != nil }) { continue }
            if try changes.identities.customer(of: history.records[place.record].accountToken) != nil { continue }
            findings.add(impossible: leaf, "nobody claimed \(outcome.transactionID) before it")
        }
    }

    /// Notes the order and the transaction that a claim names, as a live claim does: they decide whether a purchase
    /// keeps its order.
    func note(_ named: TransactionKey, _ entry: JournalEntry) throws(LedgerStorageError) {
        guard let id = leaf.order, let order = try transaction.orders.row(id: id),
            let row = try transaction.transactions.row(
                named, environment: try transaction.environments.keyToWrite(of: named.environment))
        else { return }
        try connection.execute(
            "UPDATE journal SET order_key = ?2, transaction_key = ?3 WHERE entry_key = ?1",
            [.integer(entry.key), .integer(order.key), .integer(row.key)])
    }
}

/// The findings of a replay. It is a class because all steps share it.
final class ReplayFindings {
    private(set) var list: [AuditFinding] = []

    func add(_ finding: AuditFinding?) {
        if let finding { list.append(finding) }
    }

    /// Adds the finding that an entry cannot come at its place.
    func add(impossible leaf: JournalLeaf, _ reason: String) {
        add(AuditFinding(kind: .entryImpossible, detail: "\(leaf.kind.name) \(leaf.id.text): \(reason)"))
    }
}
