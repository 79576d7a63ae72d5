import PurchaseVerification

/// Which of the known copies of a receipt's originals the sender of the receipt has, and what is signed about those. Of
/// what a family or a group shares, the copies of other members are not the sender's. A pure function.
///
/// In recorded receipts each member's copies have an original of their own. The rule does not rely on that, because
/// signed data can name one original for several holders.
package struct ReceiptCopies {
    /// The known copies of one original.
    private struct Copies {
        /// The sender's.
        var own: Set<ExactText> = []
        /// Those of others, and erased ones that the receipt does not name.
        var others: Set<ExactText> = []
        /// The holders that the sender is.
        var holders: Set<PurchaseHolder> = []
        /// The downloads of the app that the sender's copies name.
        var downloads: Set<ExactText> = []
    }

    /// The transactions of the sender that the ledger knows.
    package let transactions: [ObservedTransaction]
    /// Whether every known transaction of the receipt belonged to an erased customer, and there is one.
    package let areErased: Bool
    private let originals: [ExactText: Copies]

    /// - Parameters:
    ///   - receipt: the facts of the receipt alone, by original and transaction.
    ///   - known: the transactions of the same originals that the ledger knows, whoever has them.
    ///   - erased: the numbers of erased transactions, by original.
    package init(
        of receipt: [ExactText: [ExactText: ObservedTransaction]], known: [ObservedTransaction],
        erased: [ExactText: Set<ExactText>]
    ) {
        func isNamed(_ facts: ObservedTransaction) -> Bool {
            receipt[facts.original.transactionID]?[facts.key.transactionID] != nil
        }
        var originals: [ExactText: Copies] = [:]
        // The ownership type that the ledger knows counts before that of the receipt: it can be from signed data.
        var typed: Set<ExactText> = []
        for facts in known where facts.ownershipType != nil && isNamed(facts) {
            typed.insert(facts.key.transactionID)
            if let holder = facts.distinctHolder {
                originals[facts.original.transactionID, default: Copies()].holders.insert(holder)
            }
        }
        for (original, copies) in receipt {
            for (id, facts) in copies where !typed.contains(id) {
                if let holder = facts.distinctHolder { originals[original, default: Copies()].holders.insert(holder) }
            }
        }
        var transactions: [ObservedTransaction] = []
        for facts in known {
            let (original, id) = (facts.original.transactionID, facts.key.transactionID)
            let isSameHolder = facts.distinctHolder.map { originals[original]?.holders.contains($0) ?? false } ?? false
            guard isNamed(facts) || isSameHolder else {
                originals[original, default: Copies()].others.insert(id)
                continue
            }
            transactions.append(facts)
            originals[original, default: Copies()].own.insert(id)
            if let download = facts.appTransactionID { originals[original]?.downloads.insert(download) }
        }
        var isNamedErased = false
        for (original, ids) in erased {
            for id in ids {
                guard receipt[original]?[id] == nil else {
                    isNamedErased = true
                    continue
                }
                originals[original, default: Copies()].others.insert(id)
            }
        }
        (self.transactions, self.originals) = (transactions, originals)
        areErased = isNamedErased && transactions.isEmpty
    }

    /// The renewal info about the sender's copies of an original: what was signed beside one of them, and what names a
    /// download of theirs. What names neither is about them only if nobody else is known to have copies.
    package func renewal(of original: ExactText, _ renewal: ObservedRenewal?) -> ObservedRenewal? {
        guard let renewal, let copies = originals[original] else { return nil }
        guard !copies.others.isEmpty || !copies.downloads.isEmpty else { return renewal }
        return ObservedRenewal(
            renewal.statements.filter { statement in
                if let beside = statement.beside {
                    if copies.own.contains(beside) { return true }
                    if copies.others.contains(beside) { return false }
                }
                if let download = statement.info.appTransactionID, !copies.downloads.isEmpty {
                    return copies.downloads.contains(download)
                }
                return copies.others.isEmpty
            })
    }

    /// The statuses of the sender's copies of an original.
    ///
    /// - Parameter statuses: the newest ones, by the name of the holder.
    package func statuses(of original: ExactText, _ statuses: [String: SignedStatus]) -> [String: SignedStatus] {
        guard let copies = originals[original] else { return [:] }
        guard !copies.others.isEmpty else { return statuses }
        let names = Set(copies.holders.map(\.name))
        return statuses.filter { names.contains($0.key) }
    }
}

extension ObservedTransaction {
    /// The holder, if all copies of that holder are known to be of one Apple account: not of a family member whose
    /// download is not known, and not under an ownership type without a known meaning.
    fileprivate var distinctHolder: PurchaseHolder? {
        switch ownership.holder {
        case .buyer: ownershipType == nil || ownershipType == "PURCHASED" ? .buyer : nil
        case .family(appTransactionID: nil): nil
        case .family, .assigned, .assignedTransaction: ownership.holder
        }
    }
}
