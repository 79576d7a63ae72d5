import Foundation

/// Everything that is stored, as one document, which each change replaces: a crash leaves the state before or after.
struct PurchaseRecord: Codable, Equatable {
    /// The version of the document. One of a newer version is kept, and refused.
    static let currentVersion = 1
    /// The maximum number of started purchases. A transaction of a dropped one still names its customer by token.
    static let startedLimit = 50
    /// The number of consumables and of ended purchases that are listed one by one.
    static let grantedLimit = 200
    /// The number of consumables that are no longer listed, and still recognised when they are added again.
    static let unlistedLimit = 5000
    /// The number of periods of one subscription that are listed.
    static let periodLimit = 3

    var version = currentVersion
    var started: [StartedPurchase] = []
    var outbox: [OutboxEntry] = []
    var granted: [GrantedPurchase] = []
    /// The units of each consumable in each environment, without a server, by `unitsName`.
    var units: [String: UnitTotals] = [:]
    /// The digests of consumables that are part of `units`, and no longer listed one by one.
    var unlisted: [String]?
    /// The customers by the tokens that their purchases carry.
    var customers: [UUID: String] = [:]
    /// The tokens among them that this device made. The server does not know them, so they only say who began a
    /// purchase, which may belong to somebody else since; nil before the first.
    var made: [UUID]?
    /// What the server's answers say, the newest for each product, environment and customer.
    var entitlements: [StoredEntitlement] = []
    /// Evidence of consumables that the server accepted, to ask it for balances; nil before the first.
    var accepted: [AcceptedEvidence]?
    /// Renewals that prolong the server's answers until it answers about them; nil before the first.
    var renewals: [SignedRenewal]?
    /// The digests of renewals for which the server gives nothing; nil before the first.
    var refusedRenewals: [String]?
    var lastPass: Pass?
    /// When the last look began that left nothing to ask, by customer; without a server by an empty id.
    var looks: [String: Date]?
    var environment: String?
    var mark = TimeMark()
    /// The customer who was signed in last; nil after they signed out.
    var lastCustomer: PurchaseCustomer?
    var guest: PurchaseCustomer?
    /// The customers with a login, by the ids of the guests whose purchases they got; nil before the first.
    var merged: [String: String]?
    /// These guests, the last one at the end; nil before the first.
    var mergedOrder: [String]?
    /// Those about whom a request ended later, so that the server may have to merge them again; nil before the first.
    var unmerged: [String]?
    /// Whether the guest came from another device, so that only the server knows what they have.
    var isGuestMoved: Bool?

    /// What the server was asked in the last pass.
    struct Pass: Codable, Equatable {
        let customerID: String
        /// When it answered, by its own clock.
        let at: Date
        var seen: Set<String>
    }

    /// Whether a customer has anything here: a purchase, one that waits, or one that they were asked to pay.
    func knows(_ customerID: String) -> Bool {
        granted.contains { $0.customerID == customerID } || outbox.contains { $0.customerID == customerID }
            || started.contains { $0.customerID == customerID }
            || entitlements.contains { $0.customerID == customerID }
            || (accepted ?? []).contains { $0.customerID == customerID }
    }

    mutating func make(_ token: UUID, for customerID: String) {
        customers[token] = customerID
        made = (made ?? []).suffix(Self.grantedLimit - 1) + [token]
    }

    func isMade(_ token: UUID) -> Bool { (made ?? []).contains(token) }

    func entry(_ key: PurchaseKey) -> OutboxEntry? { outbox.first { $0.key.matches(key) } }

    /// The entry of a transaction, or the one of the purchase that a restored transaction is a copy of.
    func waiting(_ transaction: PaymentTransaction) -> OutboxEntry? {
        if let key = transaction.key, let own = entry(key) { return own }
        guard transaction.state == .restored, let original = transaction.originalTransactionID else { return nil }
        return outbox.first { entry in
            entry.transaction.productID == transaction.productID
                && [entry.transaction.transactionID, entry.transaction.originalTransactionID].contains(original)
        }
    }

    /// The customer whom the original of a transaction waits for, or was granted to: a renewal or a copy belongs to
    /// them, whoever is signed in.
    ///
    /// - Parameter key: an entry that says nothing about it, because its own customer is asked for.
    func customerID(ofOriginal transaction: PaymentTransaction, besides key: PurchaseKey? = nil) -> String? {
        guard let original = transaction.originalTransactionID else { return nil }
        let entry = outbox.last { entry in
            guard !(key.map { entry.key.matches($0) } ?? false) else { return false }
            return [entry.transaction.transactionID, entry.transaction.originalTransactionID].contains(original)
        }
        let purchase = granted.last { [$0.key.transactionID, $0.originalTransactionID].contains(original) }
        return entry?.customerID ?? purchase?.customerID
    }

    /// Puts an entry in the place of the one of the same transaction, or at the end.
    mutating func put(_ entry: OutboxEntry) {
        if let index = outbox.firstIndex(where: { $0.key.matches(entry.key) }) {
            outbox[index] = entry
        } else {
            outbox.append(entry)
        }
    }

    /// Drops started purchases that no transaction can pay any more, by the newest signed time: the device's clock can
    /// be wrong. One that was started by a clock that was ahead gets its age from then on.
    ///
    /// - Parameter kept: those of this run, whose dates stay as they are.
    mutating func dropOldStarted(except kept: [StartedPurchase]) {
        guard let now = mark.signed else { return }
        started = started.compactMap { purchase in
            guard now.timeIntervalSince(purchase.startedAt) <= StartedPurchase.longestAge else { return nil }
            guard !kept.contains(purchase) else { return purchase }
            var aged = purchase
            aged.startedAt = min(now, purchase.startedAt)
            return aged
        }
    }

    mutating func remove(_ key: PurchaseKey) { outbox.removeAll { $0.key.matches(key) } }

    func granted(_ key: PurchaseKey) -> GrantedPurchase? { granted.first { $0.key.matches(key) } }

    /// Stores a purchase under its transaction, at most once. A purchase that had ended becomes active again, because
    /// its refund was reversed. Newer evidence corrects its dates.
    mutating func grant(_ purchase: GrantedPurchase) {
        guard let index = granted.firstIndex(where: { $0.key.matches(purchase.key) }) else {
            granted.append(purchase)
            return trim()
        }
        granted[index].endedAt = nil
        if let renewal = purchase.renewal, renewal.signedAt >= granted[index].renewal?.signedAt ?? .distantPast {
            granted[index].renewal = renewal
        }
        // The server may have transferred it.
        granted[index].customerID = purchase.customerID ?? granted[index].customerID
        granted[index].appAccountToken = purchase.appAccountToken ?? granted[index].appAccountToken
        granted[index].isFamilyShared = purchase.isFamilyShared ?? granted[index].isFamilyShared
        guard let signedAt = purchase.signedAt, signedAt >= granted[index].signedAt ?? .distantPast else { return }
        granted[index].signedAt = signedAt
        granted[index].expirationDate = purchase.expirationDate ?? granted[index].expirationDate
        granted[index].graceUntil = purchase.graceUntil ?? granted[index].graceUntil
    }

    /// Adds purchases that were granted elsewhere, and not those that are no longer listed one by one.
    mutating func adopt(_ purchases: [GrantedPurchase]) {
        var known = Set(unlisted ?? [])
        for purchase in purchases where known.insert(purchase.key.digest).inserted { add(purchase) }
    }

    mutating func add(_ purchase: GrantedPurchase) {
        guard granted(purchase.key) == nil else { return }
        granted.append(purchase)
        trim()
    }

    /// Ends a granted purchase, and the copies that restoring made of it: a refund applies to all of them.
    mutating func end(_ key: PurchaseKey, at date: Date) -> GrantedPurchase? {
        guard let index = granted.firstIndex(where: { $0.key.matches(key) }), granted[index].endedAt == nil else {
            return nil
        }
        let purchase = granted[index]
        for place in granted.indices where place == index || granted[place].isCopy(of: purchase) {
            granted[place].endedAt = granted[place].endedAt ?? date
        }
        return granted[index]
    }

    /// Stores what a fresh answer says. What the account no longer lists has ended, unless a newer answer gives it.
    mutating func keep(_ answer: EntitlementAnswer) {
        keep(answer.asked)
        guard let account = answer.account else { return }
        keep(account)
        for place in entitlements.indices where entitlements[place].customerID == answer.customerID {
            let behind = entitlements[place].signedAt.timeIntervalSince(answer.signedAt)
            let isListed = account.contains { $0.isSameProduct(as: entitlements[place]) }
            if !isListed, behind < 0 || behind > TimeMark.tolerance { entitlements[place].end(at: answer.signedAt) }
        }
        dropAnsweredRenewals()
    }

    /// Stores what a fresh answer says about products. Of two answers about a product that arrive together, the one
    /// that was signed later counts. If the stored one was signed much later, the server's clock was ahead then.
    private mutating func keep(_ answer: [StoredEntitlement]) {
        for var new in answer {
            if let place = entitlements.firstIndex(where: { $0.isSameProduct(as: new) }) {
                let behind = entitlements[place].signedAt.timeIntervalSince(new.signedAt)
                guard behind <= 0 || behind > TimeMark.tolerance else { continue }
                // Only an account names them.
                if new.isActive { new.names = new.names ?? entitlements[place].names }
                entitlements[place] = new
            } else {
                entitlements.append(new)
            }
            // It is newer than the refund that the device saw.
            if new.isActive, let index = granted.firstIndex(where: { $0.key.transactionID == new.transactionID }),
                let endedAt = granted[index].endedAt, endedAt < new.signedAt
            {
                granted[index].endedAt = nil
            }
        }
        dropAnsweredRenewals()
    }

    /// Notes when a look began that left nothing to ask. Without entitlements, nothing is waited for.
    mutating func noteLook(of customerID: String, at date: Date) {
        let known = (looks ?? [:]).filter { look in entitlements.contains { $0.customerID == look.key } }
        looks = known.merging([customerID: date]) { max($0, $1) }
    }

    /// Corrects ends that a wrong clock noted after a time that a fresh answer proves: they were before it.
    mutating func endNoLater(than date: Date) {
        for index in granted.indices {
            guard let endedAt = granted[index].endedAt, endedAt.timeIntervalSince(date) > TimeMark.tolerance else {
                continue
            }
            granted[index].endedAt = date.addingTimeInterval(-1)
        }
    }

    /// Drops what no longer decides anything, so that the document does not grow with the years.
    private mutating func trim() {
        var dropped = oldPeriods()
        var (consumables, ended) = (0, 0)
        for index in granted.indices.reversed() {
            let purchase = granted[index]
            if purchase.kind == .consumable {
                consumables += 1
                guard consumables > Self.grantedLimit else { continue }
                dropped.insert(index)
                unlisted = (unlisted ?? []).suffix(Self.unlistedLimit - 1) + [purchase.key.digest]
                if purchase.endedAt == nil {
                    let name = Self.unitsName(purchase.productID, in: purchase.key.environment)
                    units[name, default: UnitTotals()].boughtEarlier += purchase.quantity
                }
            } else if purchase.expirationDate == nil, purchase.endedAt != nil {
                ended += 1
                if ended > Self.grantedLimit { dropped.insert(index) }
            }
        }
        guard !dropped.isEmpty else { return }
        granted = granted.indices.filter { !dropped.contains($0) }.map { granted[$0] }
    }

    /// The places of all periods but the newest of each subscription. A receipt lists them in any order.
    private func oldPeriods() -> Set<Int> {
        let periods = granted.indices.filter { granted[$0].kind != .consumable && granted[$0].expirationDate != nil }
        let subscriptions = Dictionary(grouping: periods) { index in
            "\(granted[index].originalTransactionID ?? granted[index].key.transactionID) \(granted[index].productID)"
        }
        let old = subscriptions.values.filter { $0.count > Self.periodLimit }.flatMap { places in
            places.sorted { granted[$0].isEarlier(than: granted[$1]) }.dropLast(Self.periodLimit)
        }
        return Set(old)
    }
}

extension GrantedPurchase {
    /// Whether its period ends earlier, or began earlier and ends at the same time.
    fileprivate func isEarlier(than other: GrantedPurchase) -> Bool {
        func dates(_ one: GrantedPurchase) -> (Date, Date) {
            (one.expirationDate ?? .distantPast, one.purchaseDate ?? .distantPast)
        }
        return dates(self) < dates(other)
    }

    /// Whether both are one purchase under two ids. Periods of a subscription are separate purchases of one original.
    fileprivate func isCopy(of other: GrantedPurchase) -> Bool {
        let original = originalTransactionID ?? key.transactionID
        return original == other.originalTransactionID ?? other.key.transactionID && productID == other.productID
            && key.environment == other.key.environment && expirationDate == nil && other.expirationDate == nil
    }
}

extension PurchaseRecord {
    init(_ document: [UInt8]) throws {
        let decoder = JSONDecoder.ofRecord
        do {
            // Of a later version nothing else can be read.
            let version = try decoder.decode(Version.self, from: Data(document)).version
            guard version <= Self.currentVersion else {
                throw PurchaseError(
                    .storeNewer, expected: "version \(Self.currentVersion) or older", found: "version \(version)")
            }
            self = try decoder.decode(PurchaseRecord.self, from: Data(document))
        } catch {
            throw PurchaseError(.storeDamaged, error)
        }
    }

    private struct Version: Decodable { let version: Int }

    /// The document, without the evidence of transactions.
    func document() throws -> [UInt8] {
        var record = self
        for index in record.outbox.indices { record.outbox[index].evidence = OutboxEntry.StoredEvidence() }
        for index in (record.accepted ?? []).indices { record.accepted?[index].signedTransaction = "" }
        do { return [UInt8](try JSONEncoder.ofRecord.encode(record)) } catch {
            throw PurchaseError(.storeFailed, error)
        }
    }

    /// Reads the evidence of the transactions that wait. What cannot be read is delivered again by StoreKit.
    mutating func loadEvidence(_ store: any PurchaseStore) {
        for index in outbox.indices {
            guard let stored = try? store.evidence(outbox[index].evidenceName),
                let evidence = try? JSONDecoder().decode(OutboxEntry.StoredEvidence.self, from: Data(stored))
            else { continue }
            outbox[index].evidence = evidence
        }
        loadAcceptedEvidence(store)
    }

    func storeEvidence(_ store: any PurchaseStore, since old: PurchaseRecord) throws {
        // What is decided is only finished.
        for entry in outbox where entry.decision == nil && old.entry(entry.key)?.evidence != entry.evidence {
            guard entry.evidence != OutboxEntry.StoredEvidence() else { continue }
            try store.keepEvidence([UInt8](try JSONEncoder().encode(entry.evidence)), entry.evidenceName)
        }
        try storeAcceptedEvidence(store, since: old)
    }

    /// Removes the evidence of transactions that no longer wait, and of products that have newer evidence.
    func removeEvidence(_ store: any PurchaseStore, since old: PurchaseRecord) throws {
        let names = Set(evidenceNames)
        for name in old.evidenceNames where !names.contains(name) { try store.removeEvidence(name) }
    }
}

extension JSONDecoder {
    static var ofRecord: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        return decoder
    }
}

extension JSONEncoder {
    static var ofRecord: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
