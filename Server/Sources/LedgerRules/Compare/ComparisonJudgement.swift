import PurchaseVerification

/// Finds out why another system's answer differs from the ledger's.
package struct ComparisonJudgement {
    package let theirs: ForeignAnswer
    package let situation: ComparisonSituation

    package init(theirs: ForeignAnswer, situation: ComparisonSituation) {
        (self.theirs, self.situation) = (theirs, situation)
    }

    /// What differs, before the evidence is added.
    package struct Finding: Sendable, Equatable {
        package var cause: ComparisonCause
        package var rule: ComparisonRule
        package var sentence: String
        /// The purchases on which it rests.
        package var transactions: [TransactionKey] = []
    }

    /// The difference of two times that counts as none, in milliseconds: exports often have whole seconds.
    private static let precision: Int64 = 1000

    private var moment: Timestamp { situation.question.moment }
    private var customer: String { "'\(theirs.customerID)'" }
    private var subject: String { "'\(theirs.subject.name)'" }

    /// - Returns: `nil` if both say the same.
    package func finding() -> Finding? {
        let isTheirsActive = theirs.isActive(at: moment)
        guard let ours = situation.ours, ours.state == .active else {
            return isTheirsActive ? access(deniedBy: situation.ours) : nil
        }
        guard isTheirsActive else { return access(by: ours) }
        switch (theirs.end, ours.until) {
        case (.unstated, _), (.unlimited, nil): return nil
        case (.at(let end), let until?) where isSame(end, until): return nil
        case (let end, let until): return ends(of: ours, theirs: end, until)
        }
    }

    // MARK: They give access, and the ledger does not

    private func access(deniedBy ours: Entitlement?) -> Finding {
        guard situation.isSubjectKnown || ours != nil else {
            return Finding(
                cause: .productUnknown, rule: .settings,
                sentence:
                    "It is open who is right: the settings have no product or entitlement named \(subject). Add it; recorded purchases of it count at once."
            )
        }
        if let named = situation.named, let owner = named.owner, owner != situation.customer {
            return Finding(
                cause: .ownedByAnother, rule: ComparisonRule(ownerReason: named.ownerReason),
                sentence:
                    "Assay is right: transaction \(named.transaction.transactionID.string) belongs to another customer. One purchase serves one customer.",
                transactions: [named.transaction])
        }
        guard situation.isCustomerKnown else { return unseen(.customerUnknown) }
        if let elsewhere = situation.elsewhere, ours.map({ $0.isPast }) ?? true {
            guard elsewhere.environment != .production else { return unasked(elsewhere) }
            return Finding(
                cause: .sandboxCounted, rule: .sandboxAccess,
                sentence:
                    "Assay is right: the purchase that gives \(subject) to \(customer) is of \(elsewhere.environment.name), which costs nothing and does not count here.",
                transactions: transactions(of: elsewhere))
        }
        guard let ours else { return unseen(.purchaseNotSeen) }
        return finding(deniedBy: ours)
    }

    /// The purchase is of Production, and their answer is about another environment.
    private func unasked(_ elsewhere: Entitlement) -> Finding {
        let asked = theirs.environment.map { "; the other system's answer is about \($0.name)" } ?? ""
        return Finding(
            cause: .purchaseNotSeen, rule: .nothingRecorded,
            sentence:
                "It is open who is right: the purchase that gives \(subject) to \(customer) is of \(elsewhere.environment.name)\(asked). Compare with that environment, or post the receipt or the signed transaction of the other purchase.",
            transactions: transactions(of: elsewhere))
    }

    /// Nothing that is recorded explains their answer.
    private func unseen(_ cause: ComparisonCause) -> Finding {
        if let named = situation.named, named.owner == nil {
            return Finding(
                cause: .purchaseHeld, rule: .own(step: 4),
                sentence:
                    "It is open who is right: transaction \(named.transaction.transactionID.string) is recorded, and nobody claimed it. Post its receipt or signed transaction for \(customer).",
                transactions: [named.transaction])
        }
        let what =
            cause == .customerUnknown
            ? "Assay knows no customer \(customer)" : "Assay has seen no purchase that gives \(subject) to \(customer)"
        return Finding(
            cause: cause, rule: .nothingRecorded,
            sentence: "It is open who is right: \(what). Post the receipt or the signed transaction for this customer.")
    }

    private func finding(deniedBy ours: Entitlement) -> Finding {
        let (cause, sentence) = reason(of: ours)
        var finding = Finding(cause: cause, rule: ComparisonRule(ours), sentence: sentence)
        finding.transactions = transactions(of: ours)
        switch cause {
        case .ownedByAnother, .purchaseHeld: finding.rule = ComparisonRule(ownerReason: situation.ownerReason)
        case .purchaseNotSeen: finding.rule = .nothingRecorded
        default: break
        }
        return finding
    }

    private func reason(of ours: Entitlement) -> (ComparisonCause, String) {
        let ended = ours.until.map { " on \($0)" } ?? ""
        let transaction = ours.transactionID.map { "transaction \($0)" } ?? "the purchase"
        if let later = laterPeriod(than: ours) { return later }
        switch ours.reason {
        case .revoked, .cancelled:
            return (
                .refundMissed,
                "Assay is right: the App Store withdrew \(transaction)\(withdrawn), and the other system missed it."
            )
        case .familyRevoked:
            return (
                .familyRevokeMissed,
                "Assay is right: \(transaction) is no longer shared with this member of the family\(withdrawn)."
            )
        case .noSeat, .seatUnclaimed:
            return (
                .seatCounted,
                ours.reason == .noSeat
                    ? "Assay is right: \(customer) claimed a seat, and as many claims are older as the subscription has seats."
                    : "Assay is right: the seat of \(customer) ended."
            )
        case .revokedByHand: return (.revokedByHand, "Assay is right: an operator revoked \(transaction) here.")
        case .billingRetry:
            return (
                .retryCounted,
                "Assay is right: the paid period ended\(ended), and the App Store only tries to collect the next price. That gives no access."
            )
        case .upgraded, .superseded:
            return (
                .upgradeMissed,
                "Assay is right: another product of the same subscription took the place of \(subject)\(ended)."
            )
        case .ownedByAnother: return (.ownedByAnother, "Assay is right: \(transaction) belongs to another customer.")
        case .held:
            return (
                .purchaseHeld,
                "It is open who is right: \(transaction) is recorded, and has no owner. Claim it for \(customer)."
            )
        case .notStarted:
            return ours.transactionID == nil
                ? (.purchaseNotSeen, unseen(.purchaseNotSeen).sentence)
                : (.notStarted, "Assay is right: \(transaction) begins later.")
        case .consumed: return (.unitsConsumed, "Assay is right: all units of \(subject) were used.")
        case .sandboxNotAccepted:
            return (
                .sandboxCounted,
                "Assay is right: \(transaction) is of \(ours.environment.name), which costs nothing and does not count for \(customer)."
            )
        case .productUnknown:
            return (
                .productUnknown,
                "It is open who is right: \(transaction) is recorded, and the settings do not have its product. Add it; the purchase counts at once."
            )
        case .productKindMismatch:
            return (
                .productKindMismatch,
                "It is open who is right: signed data of \(transaction) states another kind of product than the settings. Correct the settings."
            )
        case .periodUnknown:
            return (
                .periodUnknown,
                "It is open who is right: no evidence states when the period of \(transaction) ends. Post its signed transaction."
            )
        case .expired, .newsMissing, .inGrace, nil: return lapse(of: ours, ended)
        }
    }

    /// They know a period that ends after every recorded one. What happened to the recorded ones says nothing about it.
    private func laterPeriod(than ours: Entitlement) -> (ComparisonCause, String)? {
        guard ours.productKind == .autoRenewable,
            [.revoked, .cancelled, .billingRetry, .upgraded, .superseded].contains(ours.reason),
            case .at(let end) = theirs.end
        else { return nil }
        let product = ExactText(ours.productID)
        let ends = periods.filter { $0.productID == product }
            .flatMap { [$0.end] + $0.transactions.map(\.firstEnd) }.compactMap(\.self)
        guard let last = ends.max(), last < end, !isSame(last, end) else { return nil }
        return (
            .purchaseNotSeen,
            "It is open who is right: the last period that Assay has seen ends on \(last), and the other system knows one until \(end). Post the newest receipt or signed transaction of \(customer)."
        )
    }

    /// The period ended. A later end in the other system speaks of a period that was never seen here.
    private func lapse(of ours: Entitlement, _ ended: String) -> (ComparisonCause, String) {
        if case .at(let end) = theirs.end, ours.productKind == .autoRenewable {
            return (
                .purchaseNotSeen,
                "It is open who is right: the last period that Assay has seen ended\(ended), and the other system knows one until \(end). Post the newest receipt or signed transaction of \(customer)."
            )
        }
        if ours.reason == .newsMissing {
            return (
                .newsMissing,
                "It is open who is right: the paid period ended\(ended), and nothing says that it was not renewed. Post the newest receipt or signed transaction of \(customer)."
            )
        }
        return (.expiryMissed, "Assay is right: the paid time ended\(ended).")
    }

    /// When the purchase of the entitlement was withdrawn.
    private var withdrawn: String {
        let dates = situation.purchases.compactMap(\.withdrawal?.date).filter { $0 <= moment }
        return dates.max().map { " on \($0)" } ?? ""
    }

    // MARK: The ledger gives access, and they do not

    private func access(by ours: Entitlement) -> Finding {
        let until = ours.until.map { " until \($0)" } ?? ""
        let transaction = ours.transactionID.map { "transaction \($0)" } ?? "a purchase"
        func finding(_ cause: ComparisonCause, _ sentence: String) -> Finding {
            Finding(cause: cause, rule: ComparisonRule(ours), sentence: sentence, transactions: transactions(of: ours))
        }
        if ours.isAssumed { return assumed(ours) }
        if ours.reason == .inGrace { return grace(ours) }
        if ours.transactionID == nil, ours.productKind != .consumable {
            return finding(
                .grantedByHand,
                "Assay is right: an operator granted \(subject) to \(customer), or another shop gives it\(until).")
        }
        if let withdrawal = reversed {
            return finding(
                .reversalMissed,
                "Assay is right: the App Store withdrew \(transaction) on \(withdrawal), and gave it back afterwards.")
        }
        if let extended = extendedPeriod, extended.first <= moment { return lengthened(ours, extended) }
        if ["transfer", "operator_move", "merge"].contains(situation.ownerReason) {
            var found = finding(
                .transferMissed, "Assay is right: \(transaction) went to \(customer) from another customer.")
            found.rule = ComparisonRule(ownerReason: situation.ownerReason)
            return found
        }
        if ours.productKind == .autoRenewable, let current,
            let before = periods.last(where: { $0.start < current.start })
        {
            if before.productID != current.productID {
                return finding(
                    .upgradeMissed,
                    "Assay is right: the subscription changed to \(subject) on \(current.start), and is paid\(until).")
            }
            return finding(
                .renewalMissed, "Assay is right: the subscription was renewed on \(current.start), and is paid\(until)."
            )
        }
        return finding(
            .purchaseMissed,
            "Assay is right: \(transaction) gives \(subject) to \(customer)\(until), and the other system does not know it."
        )
    }

    private func assumed(_ ours: Entitlement) -> Finding {
        Finding(
            cause: .accessAssumed, rule: ComparisonRule(ours),
            sentence:
                "It is open who is right: the paid period has ended, the news of its renewal are late, and Assay assumes access\(ours.until.map { " until \($0)" } ?? "") (lapse_tolerance).",
            transactions: transactions(of: ours))
    }

    private func grace(_ ours: Entitlement) -> Finding {
        Finding(
            cause: .graceMissed, rule: ComparisonRule(ours),
            sentence:
                "Assay is right: the App Store gives a grace period\(ours.until.map { " until \($0)" } ?? "") while it collects the price.",
            transactions: transactions(of: ours))
    }

    private func lengthened(_ ours: Entitlement, _ extended: (first: Timestamp, last: Timestamp)) -> Finding {
        Finding(
            cause: .extensionMissed, rule: ComparisonRule(ours),
            sentence: "Assay is right: the App Store extended the period from \(extended.first) to \(extended.last).",
            transactions: transactions(of: ours))
    }

    // MARK: Both give access, with different ends

    private func ends(of ours: Entitlement, theirs end: ForeignAnswer.End, _ until: Timestamp?) -> Finding {
        let (theirEnd, ourEnd) = (Self.words(end), Self.words(until.map { .at($0) } ?? .unlimited))
        func finding(_ cause: ComparisonCause, _ sentence: String) -> Finding {
            Finding(cause: cause, rule: ComparisonRule(ours), sentence: sentence, transactions: transactions(of: ours))
        }
        if case .at(let end) = end, let until, until < end, ours.productKind == .autoRenewable {
            var found = finding(
                .purchaseNotSeen,
                "It is open who is right: Assay has seen nothing that lasts longer than \(until), and the other system knows a period \(theirEnd). Post the newest receipt or signed transaction of \(customer)."
            )
            found.rule = .nothingRecorded
            return found
        }
        if ours.isAssumed { return assumed(ours) }
        if ours.reason == .inGrace { return grace(ours) }
        if case .at(let end) = end {
            if let extended = extendedPeriod, isSame(extended.first, end) { return lengthened(ours, extended) }
            if let until, end < until, let stale = periods.first(where: { $0.end.map { isSame($0, end) } ?? false }) {
                if stale.productID.map({ $0 != ExactText(ours.productID) }) ?? false {
                    return finding(
                        .upgradeMissed,
                        "Assay is right: the subscription changed its product, and is paid \(ourEnd); the other system has the end of the earlier product, \(end)."
                    )
                }
                return finding(
                    .renewalMissed,
                    "Assay is right: the subscription was renewed, and is paid \(ourEnd); the other system has the end of an earlier period, \(end)."
                )
            }
        }
        return finding(
            .untilDiffers,
            "It is open who is right: both give access, Assay \(ourEnd) by \(ours.transactionID.map { "transaction \($0)" } ?? "a grant or another shop"), and the other system \(theirEnd)."
        )
    }

    private static func words(_ end: ForeignAnswer.End) -> String {
        switch end {
        case .at(let end): "until \(end)"
        case .unlimited, .unstated: "without an end"
        }
    }

    private func isSame(_ first: Timestamp, _ second: Timestamp) -> Bool {
        abs(first.millisecondsSince1970 - second.millisecondsSince1970) < Self.precision
    }

    // MARK: Purchases

    /// The customer's own purchases, in the order of their starts.
    private var periods: [OwnedPurchase] {
        situation.purchases.filter { $0.owner == nil || $0.owner == situation.customer }
    }

    /// The purchase of the entitlement that began last.
    private var current: OwnedPurchase? {
        let product = (situation.ours?.productID).map { ExactText($0) }
        let own = periods.filter { $0.productID == product && $0.withdrawal == nil }
        return own.last { $0.start <= moment } ?? own.last
    }

    /// The first and the present end of the present period, if the App Store extended it.
    private var extendedPeriod: (first: Timestamp, last: Timestamp)? {
        guard let current, let last = current.end, let first = current.transactions.compactMap(\.firstEnd).min(),
            first < last, !isSame(first, last)
        else { return nil }
        return (first, last)
    }

    /// When the present purchase was withdrawn, if that was reversed.
    private var reversed: Timestamp? {
        guard let current else { return nil }
        return current.transactions.compactMap(\.lastWithdrawal).filter { $0 <= moment }.max()
    }

    /// The transactions that explain an entitlement: those of the period that decides and, after a change of product,
    /// of the next.
    private func transactions(of entitlement: Entitlement) -> [TransactionKey] {
        var keys: [TransactionKey] = []
        let own = situation.purchases.filter { $0.productID == ExactText(entitlement.productID) }
        if let last = own.last(where: { $0.start <= moment }) ?? own.first, let key = last.transaction {
            keys.append(key)
        }
        if [.superseded, .upgraded].contains(entitlement.reason),
            let next = situation.purchases.last(where: { $0.productID != ExactText(entitlement.productID) }),
            let key = next.transaction
        {
            keys.append(key)
        }
        if keys.isEmpty, let id = entitlement.transactionID {
            keys.append(TransactionKey(environment: entitlement.environment, transactionID: ExactText(id)))
        }
        return keys
    }
}

extension Entitlement {
    /// Whether it explains nothing about a purchase of another environment: it ended, or never began.
    fileprivate var isPast: Bool {
        [.expired, .newsMissing, .notStarted, .sandboxNotAccepted].contains(reason)
    }
}
