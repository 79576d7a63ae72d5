import Foundation

extension PurchaseEngine {
    /// Asks the app's backend to merge a guest into a customer, and returns `into` of the server's answer.
    public typealias HandOver = @Sendable (_ guestID: String, _ customerID: String) async throws -> String

    /// Signs in a customer without a login, as an app without one does at its launch. The id is random, made once, and
    /// kept until its purchases are handed to a customer with a login. An engine that nobody signed in to does the same
    /// when the customer buys or restores; until then, what arrives waits. As soon as the guest has something, the
    /// store keeps them apart from the record; `KeychainPurchaseStore` over a reinstall and on the customer's other
    /// devices. Without it, a restore gives a new guest what the server's setting `guest_restore` allows.
    ///
    /// - Returns: the customer.
    /// - Throws: `PurchaseError` with the code `store_failed`: without the stored id, the purchases would be lost.
    @discardableResult
    public func signInAsGuest() async throws -> PurchaseCustomer {
        let guest = try keptGuest()
        await signIn(guest)
        return guest
    }

    /// The guest of this device, or one of another device who has arrived since, unless this one has something.
    private func keptGuest() throws -> PurchaseCustomer {
        try takeLateGuest()
        var next = record
        let guest = next.ownGuest()
        let found = next
        try change { $0 = found }
        return guest
    }

    private func takeLateGuest() throws {
        try load()
        guard !askedAbout.contains(record.guest?.id ?? "") else { return }
        var next = record
        do { try next.loadGuest(store) } catch { throw PurchaseError(.storeFailed, error) }
        let found = next
        try change { $0 = found }
    }

    /// Signs in the guest if the customer asks for something before anybody is signed in.
    ///
    /// - Throws: `PurchaseError` with the code `customer_unknown` while the app has yet to sign in its last customer,
    ///   whose purchase would otherwise be the guest's.
    func needCustomer() throws {
        try load()
        guard server != nil, customer == nil || customer == record.guest else { return }
        guard customer != nil || record.lastCustomer == nil else { throw PurchaseError(.customerUnknown) }
        let guest = try keptGuest()
        guard guest != customer else { return }
        guard use(guest) else { throw PurchaseError(.storeFailed) }
        // What waits for a customer, and what the App Store lists, is asked about beside the purchase.
        nextPass = time.uptime
        wake()
    }

    /// Whether a customer is the guest; `nil` if not, so that requests do not state it.
    func isGuest(_ customerID: String) -> Bool? { record.guest?.id == customerID ? true : nil }

    /// The guest whose purchases were not handed to a customer with a login yet; `nil` if there is none.
    package func guest() throws -> PurchaseCustomer? {
        try load()
        return record.guest
    }

    /// Signs in a customer with a login, and hands the guest's purchases to them.
    ///
    /// A client key may not merge customers, so your backend does: it knows that the caller is this customer, and asks
    /// the purchase server with `POST /v1/customers/{guest}/merge`. Each answer with the status 200 means that it is
    /// done, also if the server does not know the guest, and so is 404 with `customer_unknown`, which names nobody:
    /// return the second id. If an earlier login of somebody else, whose answer was lost, merged the guest, `into`
    /// names them, and nobody else sees the purchases. If it fails, the guest stays signed in, and nothing is lost:
    /// call it again.
    ///
    /// A request for the guest that was still on its way may bind a purchase to them afterwards. The engine then asks
    /// again, until it is done: with this closure while the app runs, and at the next such login of this customer.
    ///
    /// If the app calls `signIn` or `signOut` again before your backend answers, the guest's purchases are handed over,
    /// and the later call says who is signed in.
    ///
    /// - Parameters:
    ///   - customer: the customer.
    ///   - merge: asks your backend to merge the first customer into the second, and returns `into`; not called if
    ///     there is no guest, or if the guest has neither a purchase nor one that waits or was begun.
    /// - Throws: the error of `merge`, or `PurchaseError` with the code `store_failed`.
    public func signIn(
        _ customer: PurchaseCustomer, handingOver merge: @escaping HandOver
    ) async throws {
        try takeLateGuest()
        logins += 1
        let login = logins
        let guest = record.guest.flatMap { $0.id == customer.id ? nil : $0 }
        if let guest {
            let isKnown = record.knows(guest.id) || record.isGuestMoved == true
            let survivor = isKnown ? try await merge(guest.id, customer.id) : customer.id
            // What waits is claimed for the customer; the server takes claims for the guest as theirs, too.
            try change { $0.hand(from: guest.id, to: survivor) }
            if askedAbout.contains(guest.id) { noteLateRequest(of: guest.id) }
            startedInThisRun = startedInThisRun.map { record.current($0) }
            // If it stays, the record knows that they were handed over. Another device may have put its own guest
            // there.
            do {
                if try store.guest()?.starts(with: "\(guest.id) ".utf8) ?? false { try store.keepGuest(nil) }
            } catch { emit(.failedOutside(PurchaseError(.storeFailed, error), nil)) }
        }
        // Nobody stays signed in as a guest who is somebody else now.
        guard login == logins || (guest != nil && self.customer?.id == guest?.id) else { return }
        handOver = (customer.id, merge)
        await signIn(customer)
        await refreshEntitlements(evenIfKnown: true)
    }

    /// Asks the server something about a customer, who may be a guest that is handed over meanwhile.
    func asking<Answer: Sendable>(
        about customerID: String, _ ask: (PurchaseConnection) async throws -> Answer
    ) async throws -> Answer {
        guard let server else { throw PurchaseError(.customerUnknown) }
        askedAbout.append(customerID)
        defer {
            if let place = askedAbout.firstIndex(of: customerID) { askedAbout.remove(at: place) }
            if record.owner(customerID) != customerID { noteLateRequest(of: customerID) }
        }
        return try await ask(server)
    }

    private func noteLateRequest(of guestID: String) {
        _ = changes { $0.unmerged = ($0.unmerged ?? []).filter { $0 != guestID } + [guestID] }
    }

    /// Asks again to merge guests about whom a request ended after they were handed to the customer who is signed in.
    ///
    /// - Returns: whether nothing is left that can be asked now.
    func handOverAgain() async -> Bool {
        guard let handOver, let id = customer?.id, handOver.customerID == id, !isHandingOver else { return true }
        let guests = (record.unmerged ?? []).filter { record.owner($0) == id }
        guard !guests.isEmpty else { return true }
        guard !guests.contains(where: { askedAbout.contains($0) }) else { return false }
        isHandingOver = true
        defer { isHandingOver = false }
        for guest in guests {
            do {
                let survivor = try await handOver.merge(guest, id)
                try change { record in
                    record.unmerged?.removeAll { $0 == guest }
                    record.merged?[guest] = survivor
                    record.lastPass = nil
                }
            } catch {
                emit(.failedOutside(PurchaseError(.connectionFailed, error), nil))
                return false
            }
        }
        // What was refused because the guest had it.
        for entry in record.outbox where entry.customerID == id && entry.decision == nil {
            await handle(entry.transaction)
        }
        return true
    }
}
