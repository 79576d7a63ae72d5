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

extension Timestamp {
    /// The end of the year 9999.
    private static let latest: Int64 = 253_402_300_799_999

    /// Adds a length of time a number of times; the result is at most the end of the year 9999.
    package func adding(milliseconds: Int64, times count: Int64) -> Timestamp {
        let sum = millisecondsSince1970.saturatingSum(milliseconds.saturatingProduct(count))
        return Timestamp(millisecondsSince1970: min(sum, Self.latest))
    }

    /// Adds calendar months in UTC and keeps the time of day; a month that is too short gives its last day. The result
    /// is at most the end of the year 9999.
    package func adding(months: Int64) -> Timestamp {
        guard months != 0 else { return self }
        // Outside this range, which covers all dates of evidence, the arithmetic below could overflow.
        guard months < 12 * 10_000, Self.storable.contains(millisecondsSince1970) else {
            return Timestamp(millisecondsSince1970: Self.latest)
        }
        let day: Int64 = 86_400_000
        let days = Self.floored(millisecondsSince1970, day)
        var date = CivilDay(daysSince1970: days)
        let month = date.year * 12 + (date.month - 1) + months
        (date.year, date.month) = (Self.floored(month, 12), month - Self.floored(month, 12) * 12 + 1)
        date.day = min(date.day, CivilDay.days(inMonth: date.month, of: date.year))
        let sum = date.daysSince1970 * day + (millisecondsSince1970 - days * day)
        return Timestamp(millisecondsSince1970: min(sum, Self.latest))
    }

    fileprivate static func floored(_ number: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// A day of the proleptic Gregorian calendar, counted from 1 March of year 0 so that the leap day ends its year.
private struct CivilDay {
    var year: Int64
    var month: Int64
    var day: Int64

    init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = Timestamp.floored(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = Timestamp.floored(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension Int64 {
    /// The sum, or the nearest representable number.
    package func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// The product, or the nearest representable number.
    package func saturatingProduct(_ other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
