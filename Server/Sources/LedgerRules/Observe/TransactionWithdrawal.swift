import PurchaseVerification

extension ObservedTransaction {
    /// Apple's withdrawal of the transaction according to its own newest facts; `nil` if there is none. Whether a
    /// purchase is withdrawn depends on all of its copies.
    public var withdrawal: Withdrawal? { [self].withdrawal }
}

extension [ObservedTransaction] {
    /// Apple's withdrawal of the purchase with these copies; `nil` if there is none.
    ///
    /// The statements of all copies count together, because Apple signs newer data only for the transaction that it
    /// names, never for the ids of old copies. A cancellation counts if it is later than the newest signed transaction,
    /// or if there is none; otherwise the newest signed transaction decides. So receipts never reverse a refund, but
    /// newer signed data without a revocation does, whichever copies the two are about. A cancellation by an upgrade
    /// withdraws nothing.
    public var withdrawal: Withdrawal? {
        // Most purchases were never withdrawn.
        guard contains(where: { $0.cancellation != nil || $0.signedRevocation != nil }), let quantity = first?.quantity
        else { return nil }
        let stated = compactMap(\.fields.revocation)
        let newest = stated.first.map { stated.dropFirst().reduce($0, StampedRevocation.newer) }
        if let cancellation = compactMap(\.cancellation).max(), newest.map({ $0.stamp < cancellation }) ?? true,
            !isUpgrade(cancellation)
        {
            return Withdrawal(date: cancellation, cause: .cancelled, units: quantity)
        }
        guard let newest, let revocation = newest.revocation, revocation.share > 0, !isSharedAgain(after: newest)
        else { return nil }
        var withdrawal = Withdrawal(
            date: revocation.date, cause: .revoked, units: revocation.units(of: quantity), stamp: newest.stamp,
            isFamilyRevoke: revocation.type == Revocation.familyRevoke)
        withdrawal.appStoreReason = revocation.reason
        return withdrawal
    }

    /// When the customer upgraded, by the statements of all copies together; `nil` if newer signed data does not say
    /// so.
    var upgradedAt: Timestamp? { upgrade.map(\.earliest) }

    private var upgrade: StampedUpgrade? {
        guard contains(where: \.wasUpgraded) else { return nil }
        return StampedUpgrade.merged(map(\.fields)).flatMap { $0.isInForce ? $0 : nil }
    }

    /// Whether a cancellation is the end of the period by an upgrade.
    private func isUpgrade(_ cancellation: Timestamp) -> Bool {
        upgrade.map { cancellation <= $0.newest || cancellation.isWithinMinute(of: $0.newest) } ?? false
    }

    /// Whether the revocation ends a share of a family that another copy shows again: pages of the history sign both.
    private func isSharedAgain(after newest: StampedRevocation) -> Bool {
        guard let revocation = newest.revocation, revocation.type == Revocation.familyRevoke else { return false }
        let clean = compactMap(\.fields.revocation).filter { $0.revocation.map { $0.share == 0 } ?? true }
        return clean.contains { $0.stamp >= revocation.date }
    }
}

extension Revocation {
    /// The number of withdrawn units of a quantity: none at 0 %, otherwise the share rounded to the nearest whole
    /// number, at least 1 and at most all. 33,333 of 3 are 1, and 66,667 of 3 are 2.
    public func units(of quantity: Int64) -> Int64 {
        let quantity = max(0, quantity)
        guard share > 0, share < Self.whole else { return share == 0 ? 0 : quantity }
        // Rounded half up, in parts that cannot overflow: quantity = 100,000 · whole + rest.
        let (whole, rest) = quantity.quotientAndRemainder(dividingBy: Self.whole)
        let units = whole * share + (rest * share + Self.whole / 2) / Self.whole
        return min(max(1, units), quantity)
    }
}
