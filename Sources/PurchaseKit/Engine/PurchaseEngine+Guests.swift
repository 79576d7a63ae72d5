import Foundation

extension PurchaseEngine {
    /// Signs in a customer without a login. The id is random, made once, and kept until its purchases are handed to a
    /// customer with a login. A reinstall of the app makes a new one. Under `transfer: move` a restore then gives it
    /// the non-consumables and subscriptions of the device's App Store account; under `transfer: deny` they stay with
    /// the former guest, unless the store kept its id (Keychain), so offer a login early.
    ///
    /// - Returns: the customer.
    /// - Throws: `PurchaseError` with the code `store_failed`: without the stored id, the purchases would be lost.
    @discardableResult
    public func signInAsGuest() async throws -> PurchaseCustomer {
        try load()
        let guest = record.guest ?? PurchaseCustomer(id: "guest-\(UUID().uuidString.lowercased())")
        if record.guest == nil { try change { $0.guest = guest } }
        await signIn(guest)
        return guest
    }

    /// The guest whose purchases were not handed to a customer with a login yet; `nil` if there is none.
    public func guest() throws -> PurchaseCustomer? {
        try load()
        return record.guest
    }

    /// Signs in a customer with a login, and hands the guest's purchases to them.
    ///
    /// A client key may not merge customers, so your backend does: it knows that the caller is this customer, and asks
    /// the purchase server with `POST /v1/customers/{guest}/merge`. If it fails, the guest stays signed in and is kept,
    /// and nothing is lost: call it again.
    ///
    /// - Parameters:
    ///   - customer: the customer.
    ///   - merge: asks your backend to merge the first customer into the second; not called if there is no guest.
    /// - Throws: the error of `merge`, or `PurchaseError` with the code `store_failed`.
    public func signIn(
        _ customer: PurchaseCustomer, handingOver merge: (_ guestID: String, _ customerID: String) async throws -> Void
    ) async throws {
        try load()
        if let guest = record.guest, guest.id != customer.id {
            try await merge(guest.id, customer.id)
            // What waits is claimed for the customer; the server takes claims for the guest as theirs, too.
            try change { $0.hand(from: guest.id, to: customer.id) }
            startedInThisRun = startedInThisRun.map { record.current($0) }
        }
        await signIn(customer)
        await refreshEntitlements(evenIfKnown: true)
    }
}
