import Foundation

/// Everything that is stored, as one document: each change replaces it as a whole, so a crash leaves the state before or after.
struct PurchaseRecord: Codable, Equatable {
    /// The version of the document. A newer version is refused.
    static let currentVersion = 1
    /// The maximum number of started purchases; beyond it the oldest is dropped. Its transaction still names its customer by
    /// token.
    static let startedLimit = 50

    var version = currentVersion
    var started: [StartedPurchase] = []
    var outbox: [OutboxEntry] = []
    var granted: [GrantedPurchase] = []
    var consumed: [ConsumedUnits] = []
    /// The customers by the tokens that their purchases carry.
    var customers: [UUID: String] = [:]
    /// The last signed answers with entitlements, newest last.
    var answers: [StoredAnswer] = []
    /// The latest time that was seen. It never goes back.
    var clockMark: Date?

    /// An answer, and when it came by the device's clock.
    struct StoredAnswer: Codable, Equatable {
        let answer: SignedAnswer
        let isRestore: Bool
        let customerID: String
        let receivedAt: Date
    }

    func entry(_ key: TransactionKey) -> OutboxEntry? { outbox.first { $0.key.matches(key) } }

    /// The entry of a transaction, or the one of the purchase that a restored transaction is a copy of.
    func waiting(_ transaction: PaymentTransaction) -> OutboxEntry? {
        if let key = transaction.key, let own = entry(key) { return own }
        guard transaction.state == .restored, let original = transaction.originalTransactionID else { return nil }
        return outbox.first { entry in
            entry.transaction.productID == transaction.productID
                && [entry.transaction.transactionID, entry.transaction.originalTransactionID].contains(original)
        }
    }

    /// The customer whom the original of a transaction waits for, or was granted to: a renewal or a copy belongs to them, whoever
    /// is signed in.
    func customerID(ofOriginal transaction: PaymentTransaction) -> String? {
        guard let original = transaction.originalTransactionID, original != transaction.transactionID else {
            return nil
        }
        let entry = outbox.last { entry in
            [entry.transaction.transactionID, entry.transaction.originalTransactionID].contains(original)
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

    mutating func remove(_ key: TransactionKey) { outbox.removeAll { $0.key.matches(key) } }

    func granted(_ key: TransactionKey) -> GrantedPurchase? { granted.first { $0.key.matches(key) } }

    /// Stores a purchase under its transaction, at most once. A purchase that had ended becomes active again, because its refund
    /// was reversed.
    mutating func grant(_ purchase: GrantedPurchase) {
        guard let index = granted.firstIndex(where: { $0.key.matches(purchase.key) }) else {
            granted.append(purchase)
            return
        }
        granted[index].endedAt = nil
        // The server may have transferred it.
        granted[index].customerID = purchase.customerID ?? granted[index].customerID
    }

    /// Adds a purchase that was granted elsewhere; an existing one is not changed.
    mutating func add(_ purchase: GrantedPurchase) {
        if granted(purchase.key) == nil { granted.append(purchase) }
    }

    /// Ends a granted purchase, and the copies that restoring made of it under ids of their own: a refund applies to all of them.
    mutating func end(_ key: TransactionKey, at date: Date) -> GrantedPurchase? {
        guard let index = granted.firstIndex(where: { $0.key.matches(key) }), granted[index].endedAt == nil else {
            return nil
        }
        let purchase = granted[index]
        for place in granted.indices where place == index || granted[place].isCopy(of: purchase) {
            granted[place].endedAt = granted[place].endedAt ?? date
        }
        return granted[index]
    }

    /// Keeps an answer, and removes earlier ones that say nothing more than it does.
    mutating func keep(_ answer: StoredAnswer, products: (StoredAnswer) -> Set<String>) {
        let own = products(answer)
        guard !own.isEmpty else { return }
        answers.removeAll { $0.customerID != answer.customerID || products($0).isSubset(of: own) }
        answers.append(answer)
    }
}

extension GrantedPurchase {
    /// Whether both are the same purchase under two ids. Periods of a subscription also share an original, but are separate
    /// purchases.
    fileprivate func isCopy(of other: GrantedPurchase) -> Bool {
        let original = originalTransactionID ?? key.transactionID
        return original == other.originalTransactionID ?? other.key.transactionID && productID == other.productID
            && key.environment == other.key.environment && expirationDate == nil && other.expirationDate == nil
    }
}

extension PurchaseRecord {
    /// Reads a stored document.
    init(_ document: [UInt8]) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .millisecondsSince1970
        do {
            self = try decoder.decode(PurchaseRecord.self, from: Data(document))
        } catch {
            throw PurchaseError(.storeDamaged, error)
        }
        guard version <= Self.currentVersion else {
            throw PurchaseError(
                .storeDamaged, expected: "version \(Self.currentVersion) or older", found: "version \(version)")
        }
    }

    func document() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        encoder.outputFormatting = .sortedKeys
        do {
            return [UInt8](try encoder.encode(self))
        } catch {
            throw PurchaseError(.storeFailed, error)
        }
    }
}
