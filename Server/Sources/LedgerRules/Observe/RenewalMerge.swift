import PurchaseVerification

/// The merge of renewal facts. Renewal info is taken as a whole, for each transaction signed beside it and each thing
/// that it says about the end of a period: the later stamp wins, then the greater canonical bytes. So neither renewal
/// info of the next period nor the end of a grace period replaces what was said in it.
extension ObservedRenewal {
    /// The facts of a single statement.
    public convenience init(_ statement: RenewalStatement) { self.init(first: statement) }

    /// Merges these facts with others of the same subscription.
    ///
    /// - Returns: `self` if the others add nothing, or are about another subscription.
    public func merged(with other: ObservedRenewal) -> ObservedRenewal {
        guard self !== other, key == other.key else { return self }
        var places: [RenewalStatement.Slot: Int] = [:]
        for (place, statement) in statements.enumerated() { places[statement.slot] = place }
        var (merged, isChanged) = (statements, false)
        for statement in other.statements {
            if let place = places[statement.slot] {
                let newer = RenewalStatement.newer(merged[place], statement)
                guard newer != merged[place] else { continue }
                merged[place] = newer
            } else {
                merged.append(statement)
            }
            isChanged = true
        }
        return isChanged ? ObservedRenewal(merged) ?? self : self
    }

    /// Merges these facts with one more statement.
    public func merged(with statement: RenewalStatement) -> ObservedRenewal {
        merged(with: ObservedRenewal(statement))
    }
}

extension RenewalStatement {
    /// The later stamp; if equal, the greater canonical bytes.
    package static func newer(_ left: RenewalStatement, _ right: RenewalStatement) -> RenewalStatement {
        guard left.stamp == right.stamp else { return left.stamp < right.stamp ? right : left }
        guard left.info != right.info else {
            return (left.beside ?? "") < (right.beside ?? "") ? right : left
        }
        return left.info.canonicalBytes.lexicographicallyPrecedes(right.info.canonicalBytes) ? right : left
    }
}
