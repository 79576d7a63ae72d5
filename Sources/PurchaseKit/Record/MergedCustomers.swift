import Foundation

/// Guests whose purchases were handed to a customer with a login.
extension PurchaseRecord {
    /// The number of guests that are remembered. What is stored is renamed at the hand-over, so a guest's id is needed
    /// only while a payment or a claim of theirs is under way, as many as there are started purchases.
    static let mergedLimit = startedLimit

    /// Makes everything of a guest a customer's. Entitlements of the guest go: the next answer is about the customer.
    mutating func hand(from guestID: String, to customerID: String) {
        var next = (merged ?? [:]).mapValues { $0 == guestID ? customerID : $0 }
        (next[guestID], next[customerID]) = (customerID, nil)
        let ordered = (mergedOrder ?? []).filter { $0 != guestID && next[$0] != nil }
        // Those of before their order was stored are the oldest.
        let unordered = next.keys.filter { $0 != guestID && !ordered.contains($0) }.sorted()
        let kept = (unordered + ordered + [guestID]).suffix(Self.mergedLimit)
        mergedOrder = Array(kept)
        merged = next.filter { kept.contains($0.key) }
        unmerged = unmerged?.filter { kept.contains($0) }
        entitlements.removeAll { $0.customerID == guestID }
        guest = nil
        renameMerged()
    }

    /// Whether something of a customer may still be a guest's at the server.
    func awaitsGuest(_ customerID: String?) -> Bool { (unmerged ?? []).contains { owner($0) == customerID } }

    /// The customer whom an id means now.
    func owner(_ customerID: String) -> String { merged?[customerID] ?? customerID }

    /// A started purchase with the customer to whom it belongs now.
    func current(_ purchase: StartedPurchase) -> StartedPurchase {
        var current = purchase
        current.customerID = owner(purchase.customerID)
        return current
    }

    /// Replaces the ids of guests by those of the customers who got their purchases. A request that was sent before the
    /// hand-over is answered after it, and its outcome still names the guest.
    mutating func renameMerged() {
        guard let merged, !merged.isEmpty else { return }
        started = started.map { current($0) }
        for index in outbox.indices { outbox[index].customerID = outbox[index].customerID.map { owner($0) } }
        for index in granted.indices { granted[index].customerID = granted[index].customerID.map { owner($0) } }
        for (token, customer) in customers where merged[customer] != nil { customers[token] = owner(customer) }
        let acceptedOfGuests = (accepted ?? []).filter { merged[$0.customerID] != nil }
        if !acceptedOfGuests.isEmpty {
            accepted?.removeAll { merged[$0.customerID] != nil }
            for one in acceptedOfGuests {
                var one = one
                one.customerID = owner(one.customerID)
                // Evidence of the customer's own is about the same balance.
                if !(accepted ?? []).contains(where: { $0.isSameProduct(as: one) }) { keep(accepted: one) }
            }
        }
        let statementsOfGuests = entitlements.filter { merged[$0.customerID] != nil }
        guard !statementsOfGuests.isEmpty else { return }
        entitlements.removeAll { merged[$0.customerID] != nil }
        for statement in statementsOfGuests {
            var statement = statement
            statement.customerID = owner(statement.customerID)
            // The customer's own knows more: it may include what the guest did not have.
            if !entitlements.contains(where: { $0.isSameProduct(as: statement) }) { entitlements.append(statement) }
        }
    }
}
