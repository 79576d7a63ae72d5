import PurchaseVerification

/// The merge of renewal facts. Renewal info is taken as a whole: the later stamp wins, then the greater canonical bytes. Its
/// grace periods are kept by their ends, so that a past one is still known after the recovery.
extension ObservedRenewal {
    /// The facts of a single statement.
    public convenience init(_ statement: RenewalStatement) {
        let grace = statement.info.graceEnd.map {
            GracePeriod(end: $0, firstStamp: statement.stamp, lastStamp: statement.stamp)
        }
        self.init(
            key: statement.key, stamp: statement.stamp, info: statement.info, gracePeriods: grace.map { [$0] } ?? [])
    }

    /// Merges these facts with others of the same subscription.
    ///
    /// - Returns: `self` if the others add nothing, or are about another subscription.
    public func merged(with other: ObservedRenewal) -> ObservedRenewal {
        guard self !== other, key == other.key else { return self }
        let newest = isBefore(other) ? other : self
        let gracePeriods = GracePeriod.union(gracePeriods, other.gracePeriods)
        if newest === self, gracePeriods == self.gracePeriods { return self }
        let merged = ObservedRenewal(key: key, stamp: newest.stamp, info: newest.info, gracePeriods: gracePeriods)
        return merged == self ? self : merged
    }

    /// Merges these facts with one more statement.
    public func merged(with statement: RenewalStatement) -> ObservedRenewal {
        merged(with: ObservedRenewal(statement))
    }

    private func isBefore(_ other: ObservedRenewal) -> Bool {
        guard stamp == other.stamp else { return stamp < other.stamp }
        guard info != other.info else { return false }
        return info.canonicalBytes.lexicographicallyPrecedes(other.info.canonicalBytes)
    }
}

extension GracePeriod {
    /// The grace periods of both lists, each end once, with its earliest and its latest stamp. Both lists are sorted by end.
    fileprivate static func union(_ left: [GracePeriod], _ right: [GracePeriod]) -> [GracePeriod] {
        var union: [GracePeriod] = []
        union.reserveCapacity(left.count + right.count)
        var (left, right) = (left[...], right[...])
        while let first = left.first, let second = right.first {
            if first.end < second.end {
                union.append(left.removeFirst())
            } else if second.end < first.end {
                union.append(right.removeFirst())
            } else {
                union.append(
                    GracePeriod(
                        end: first.end, firstStamp: min(first.firstStamp, second.firstStamp),
                        lastStamp: max(first.lastStamp, second.lastStamp)))
                left = left.dropFirst()
                right = right.dropFirst()
            }
        }
        return union + left + right
    }
}
