import PurchaseVerification

/// The rule for non-renewing subscriptions (passes): each begins at its purchase, or when the previous one ends.
public enum PassAccess {
    /// The joint access of all passes of one customer, product and environment.
    ///
    /// - Parameters:
    ///   - passes: the passes, in any order. Those that the settings refuse take up no time.
    ///   - revocations: the manual revocations of the passes. A revoked pass still takes up its time.
    package static func grounds(
        of customer: CustomerNumber, product: ExactText, _ passes: [OwnedPurchase], revocations: [HandRevocation] = []
    ) -> [AccessGround] {
        let own = passes.filter { pass in
            pass.owner == customer && pass.productID == product && pass.kind == .nonRenewing && pass.refusal == nil
        }
        return spans(of: own, revocations: revocations).filter { $0.customer == customer }.grounds
    }

    /// The reasons why a pass gives nothing: to others than its owner, and to the owner if the settings refuse it.
    static func notes(of pass: OwnedPurchase) -> [AccessSpan] {
        spans(of: [pass]).filter { pass.refusal != nil || $0.customer != pass.owner }.map { span in
            var note = span
            note.source = .purchase(pass.ownership)
            return note
        }
    }

    private static func spans(of passes: [OwnedPurchase], revocations: [HandRevocation] = []) -> [AccessSpan] {
        var list = SpanList()
        var chain = PassChain()
        for pass in passes.inOrder() {
            guard pass.owner != nil, pass.refusal == nil, let duration = pass.terms?.duration else {
                list.add(
                    pass, source: .passes, from: pass.start, until: pass.start, endReason: .expired)
                continue
            }
            let span = chain.append(pass, duration)
            let isCut = pass.withdrawal.map { $0.date <= span.until } ?? false
            list.add(
                pass, source: .passes, from: span.from, until: span.until,
                endReason: isCut ? pass.withdrawal?.reason ?? .revoked : .expired,
                revocations: revocations.filter { $0.target == .purchase(pass.ownership) })
        }
        return list.spans
    }
}

/// The time that consecutive passes take.
private struct PassChain {
    /// The start from which the months of the current chain are counted, so that dates do not drift: 31 January, 28
    /// February, 31 March.
    private var anchor = Timestamp.epoch
    /// The number of months of the chain that are used.
    private var months: Int64 = 0
    private var end: Timestamp?

    /// Appends a pass.
    ///
    /// A withdrawal shortens the pass by the withdrawn units but does not change the past: the pass lasts until the
    /// withdrawal or for its remaining length, whichever is later, and never longer than the purchased length.
    mutating func append(_ pass: OwnedPurchase, _ duration: PassDuration) -> (from: Timestamp, until: Timestamp) {
        let from = max(pass.start, end ?? pass.start)
        if end.map({ pass.start > $0 }) ?? true { (anchor, months) = (from, 0) }
        let fullEnd = self.end(of: pass.quantity, duration, from: from)
        guard let withdrawal = pass.withdrawal else { return take(pass.quantity, duration, from, fullEnd) }
        let left = max(0, pass.quantity - withdrawal.units)
        let leftEnd = self.end(of: left, duration, from: from)
        guard withdrawal.date > leftEnd else { return take(left, duration, from, leftEnd) }
        guard withdrawal.date < fullEnd else { return take(pass.quantity, duration, from, fullEnd) }
        (anchor, months, end) = (withdrawal.date, 0, withdrawal.date)
        return (from, withdrawal.date)
    }

    private func end(of units: Int64, _ duration: PassDuration, from: Timestamp) -> Timestamp {
        switch duration {
        case .fixed(let milliseconds): from.adding(milliseconds: milliseconds, times: units)
        case .months(let count): anchor.adding(months: months.saturatingSum(count.saturatingProduct(units)))
        }
    }

    private mutating func take(
        _ units: Int64, _ duration: PassDuration, _ from: Timestamp, _ until: Timestamp
    ) -> (from: Timestamp, until: Timestamp) {
        switch duration {
        case .fixed: (anchor, months) = (until, 0)
        case .months(let count): months = months.saturatingSum(count.saturatingProduct(units))
        }
        end = until
        return (from, until)
    }
}
