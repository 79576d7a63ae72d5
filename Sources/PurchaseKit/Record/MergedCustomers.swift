import Foundation

/// Guests whose purchases were handed to a customer with a login.
extension PurchaseRecord {
    mutating func make(guest id: String, _ token: UUID) {
        guest = PurchaseCustomer(id: id, appAccountToken: token)
        make(token, for: id)
    }

    /// Takes the guest of another device, or of a record that was lost, unless they were handed over here.
    mutating func loadGuest(_ store: any PurchaseStore) throws {
        guard guest == nil, let stored = try store.guest() else { return }
        let parts = String(decoding: stored, as: UTF8.self).split(separator: " ").map { String($0) }
        guard parts.count == 2, let token = UUID(uuidString: parts[1]), owner(parts[0]) == parts[0] else {
            return
        }
        make(guest: parts[0], token)
        isGuestMoved = true
    }

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
        if guest?.id == guestID { (guest, isGuestMoved) = (nil, nil) }
        renameMerged()
    }

    /// Whether something of a customer may still be a guest's at the server.
    func awaitsGuest(_ customerID: String?) -> Bool { (unmerged ?? []).contains { owner($0) == customerID } }

    func owner(_ customerID: String) -> String { merged?[customerID] ?? customerID }

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
        accepted = accepted.map { renamed($0, \.customerID) { $0.isSameProduct(as: $1) } }
        entitlements = renamed(entitlements, \.customerID) { $0.isSameProduct(as: $1) }
    }

    /// The customer's own knows more: it may include what the guest did not have.
    private func renamed<One>(
        _ all: [One], _ customerID: WritableKeyPath<One, String>, _ isSame: (One, One) -> Bool
    ) -> [One] {
        var kept = all.filter { merged?[$0[keyPath: customerID]] == nil }
        for var one in all where merged?[one[keyPath: customerID]] != nil {
            one[keyPath: customerID] = owner(one[keyPath: customerID])
            if !kept.contains(where: { isSame($0, one) }) { kept.append(one) }
        }
        return kept
    }
}
