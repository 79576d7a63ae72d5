import Foundation

/// Guests whose purchases were handed to a customer with a login.
extension PurchaseRecord {
    /// The guest, made if there is none. The id is the device's secret; the token is in all that they buy.
    mutating func ownGuest() -> PurchaseCustomer {
        if let guest { return guest }
        let token = UUID()
        let made = PurchaseCustomer(id: "guest-\(UUID().uuidString.lowercased())", appAccountToken: token)
        guest = made
        make(token, for: made.id)
        return made
    }

    /// Takes the guest of another device, or of a record that was lost, unless the own guest has something.
    mutating func loadGuest(_ store: any PurchaseStore) throws {
        guard isGuestMoved != true, !(guest.map { knows($0.id) } ?? false),
            let (id, token) = try storedGuest(store), id != guest?.id
        else { return }
        let (old, moved) = (guest, PurchaseCustomer(id: id, appAccountToken: token))
        if let old { hand(from: old.id, to: id) }
        if let old, lastCustomer == old { lastCustomer = moved }
        (guest, isGuestMoved) = (moved, true)
        make(token, for: id)
    }

    /// Stores the guest apart when they first have something, and never over another device's, who may arrive late.
    func storeGuest(_ store: any PurchaseStore, since old: PurchaseRecord) throws {
        guard let guest, let token = guest.appAccountToken, knows(guest.id), isGuestMoved != true,
            old.guest != guest || !old.knows(guest.id), try storedGuest(store) == nil
        else { return }
        try store.keepGuest(Array("\(guest.id) \(token)".utf8))
    }

    /// The guest in the store, unless they were handed over here.
    private func storedGuest(_ store: any PurchaseStore) throws -> (id: String, token: UUID)? {
        guard let stored = try store.guest() else { return nil }
        let parts = String(decoding: stored, as: UTF8.self).split(separator: " ").map { String($0) }
        guard parts.count == 2, let token = UUID(uuidString: parts[1]), owner(parts[0]) == parts[0] else { return nil }
        return (parts[0], token)
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
