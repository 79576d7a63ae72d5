import Crypto
import Foundation
import PurchaseVerification

/// The journal: all submissions and acts, in order.
struct Journal {
    let connection: any LedgerConnection
    /// Authenticates entries; without it, they have no code and are not sealed.
    let key: EntryKey?
    /// Notes the entries that are written.
    var attempt: WriteAttempt?

    /// Writes an entry. The sealer finds it by its number.
    ///
    /// - Returns: the written entry.
    @discardableResult
    func append(_ draft: JournalDraft, _ details: some JournalDetails) throws(LedgerStorageError) -> JournalEntry {
        let content = try details.encoded()
        let salt = RandomBytes.sixteen()
        let kind = type(of: details).kind
        let leaf = JournalLeaf(
            id: draft.id, at: draft.at, kind: kind, app: draft.app?.settings.id ?? "",
            customer: draft.customer?.reference,
            order: draft.order?.id, code: draft.code, evidence: draft.evidence?.sha256,
            details: Self.digest(salt: salt, details: content))
        var row = JournalRow(
            id: draft.id, leaf: leaf.bytes, salt: salt, details: content, appKey: draft.app?.key ?? 0,
            kind: Int64(kind.rawValue), at: draft.at)
        row.customerKey = draft.customer?.key
        row.orderKey = draft.order?.key
        row.transactionKey = draft.transactionKey
        row.evidenceKey = draft.evidence?.key
        row.code = draft.code
        row.mac = key?.code(of: row.leaf)
        let key = try JournalTable(connection: connection).insert(row)
        attempt?.note(draft.id)
        return JournalEntry(
            key: key, id: draft.id, leafHash: JournalLeaf.hash(row.leaf),
            bytes: Int64(row.leaf.count + content.count))
    }

    /// The hash of details in a leaf. Without the salt, short details could be guessed from the leaf.
    static func digest(salt: [UInt8], details: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: salt)
        hash.update(data: details)
        return Array(hash.finalize())
    }
}

/// An entry that was written.
struct JournalEntry {
    /// Its number in the database.
    let key: Int64
    let id: UUID
    /// The hash of its leaf in the Merkle log.
    let leafHash: [UInt8]
    /// The number of bytes of its leaf and its details.
    var bytes: Int64 = 0
}

/// A journal entry before it is written. Its id is chosen first, so that rows written before it can refer to it.
struct JournalDraft {
    let id: UUID
    var at: Timestamp
    var app: RegistryApp?
    var customer: CustomerRow?
    /// The customer who is merged, or who had the purchase before. It is not stored with the entry.
    var former: CustomerRow?
    var order: OrderRow?
    var transactionKey: Int64?
    var evidence: (key: Int64, sha256: [UInt8])?
    var code = ""

    init(id: UUID? = nil, at: Timestamp, app: RegistryApp?) {
        self.id = id ?? TimeOrderedID.next(at: at)
        self.at = at
        self.app = app
    }
}

/// The details of a journal entry: one type for each kind, stored as canonical JSON (sorted keys). They contain the
/// outside names, so an erasure deletes them.
protocol JournalDetails: Codable, Sendable {
    static var kind: JournalKind { get }
    /// The details without fields that follow from the others.
    var abridged: Self { get }
    /// The details with the fields that `abridged` omitted.
    var complete: Self { get }
    /// Canonical JSON.
    func encoded() throws(LedgerStorageError) -> [UInt8]
}

extension JournalDetails {
    var abridged: Self { self }
    var complete: Self { self }

    /// Canonical JSON.
    func encoded() throws(LedgerStorageError) -> [UInt8] { try encodedByFoundation() }

    /// Canonical JSON, written by Foundation's encoder.
    func encodedByFoundation() throws(LedgerStorageError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(abridged))
        } catch {
            throw LedgerStorageError(.other, "the details of a \(Self.kind.name) entry cannot be encoded: \(error)")
        }
    }

    init(encoded: [UInt8]) throws(LedgerStorageError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(encoded)).complete
        } catch {
            throw LedgerStorageError(.corrupt, "the details of a \(Self.kind.name) entry cannot be read: \(error)")
        }
    }
}

/// The kinds of journal entries. Their numbers are in the leaves, so they never change.
public enum JournalKind: UInt8, Sendable, CaseIterable {
    /// Evidence without a claim.
    case evidence = 1
    /// An unsigned answer of the App Store. It can refuse and contradict but never grant.
    case appStoreAnswer = 2
    /// A claim, with its evidence and its decision.
    case claim = 3
    case orderCreated = 4
    case orderCancelled = 5
    case orderFulfilled = 6
    case consumed = 7
    case tokenAssigned = 8
    case purchaseMoved = 9
    case customerMerged = 10
    case customerErased = 11
    case grantAdded = 12
    case revocationAdded = 13
    case actLifted = 14
    case testersChanged = 15
    case settings = 16
    case bundleBound = 17
    case keyCreated = 18
    case keyRevoked = 19
    /// A new version of the rules that compute facts, owners and entitlements.
    case rules = 20
    /// A new origin of the Merkle log, after a restore from a backup.
    case recordContinued = 21
    /// An operator ended a paid order.
    case orderClosed = 22
    /// The first delivery of a server notification.
    case notification = 23
    /// A seat of a subscription was given to a customer.
    case seatClaimed = 26
    case seatUnclaimed = 27
    /// A product that another shop gives, or its later end.
    case groundAdded = 28
    /// The end of such a ground.
    case groundEnded = 29
    /// A customer's answer to the question whether their use of purchases may be told to Apple.
    case consumptionConsent = 33
    /// What Apple was told about the use of a purchase, or why it was told nothing.
    case consumptionAnswered = 34
    /// An operator asked Apple to extend a subscription.
    case extensionRequested = 35
    /// Apple's answer to such a request.
    case extensionAnswered = 36
    /// An offer was signed for a customer.
    case offerSigned = 37
    /// Several refused pieces of evidence of one request, or the number of refusals of an API key beyond the daily
    /// budget.
    case refusals = 48
    /// The App Store accepted an account token for a purchase.
    case tokenSetAtApple = 38
    /// Purchases count since settings that an entry before recorded.
    case purchasesCounted = 39
    /// An app's backend stated an external purchase token, or line items of one.
    case externalStated = 40
    /// Apple's answer to a report about such a token, or that there is none in time.
    case externalReported = 41
    /// An event of Stripe about a subscription, and whether it decides.
    case stripeEvent = 42
    /// An app moved into a ledger of its own, or is here again. As entry 0: where the app of this ledger came from.
    case appMoved = 43
    /// The outcome of a claim that was decided after it was recorded.
    case decision = 32

    /// The name in API answers and exports.
    public var name: String {
        switch self {
        case .evidence: "evidence"
        case .appStoreAnswer: "app_store_answer"
        case .claim: "claim"
        case .orderCreated: "order_created"
        case .orderCancelled: "order_cancelled"
        case .orderFulfilled: "order_fulfilled"
        case .consumed: "consumed"
        case .tokenAssigned: "token_assigned"
        case .purchaseMoved: "purchase_moved"
        case .customerMerged: "customer_merged"
        case .customerErased: "customer_erased"
        case .grantAdded: "grant_added"
        case .revocationAdded: "revocation_added"
        case .actLifted: "act_lifted"
        case .testersChanged: "testers_changed"
        case .settings: "settings"
        case .bundleBound: "bundle_bound"
        case .keyCreated: "key_created"
        case .keyRevoked: "key_revoked"
        case .rules: "rules"
        case .recordContinued: "record_continued"
        case .orderClosed: "order_closed"
        case .notification: "notification"
        case .seatClaimed: "seat_claimed"
        case .seatUnclaimed: "seat_unclaimed"
        case .groundAdded: "ground_added"
        case .groundEnded: "ground_ended"
        case .consumptionConsent: "consumption_consent"
        case .consumptionAnswered: "consumption_answered"
        case .extensionRequested: "extension_requested"
        case .extensionAnswered: "extension_answered"
        case .offerSigned: "offer_signed"
        case .tokenSetAtApple: "token_set_at_apple"
        case .purchasesCounted: "purchases_counted"
        case .externalStated: "external_stated"
        case .externalReported: "external_reported"
        case .stripeEvent: "stripe_event"
        case .appMoved: "app_moved"
        case .decision: "decision"
        case .refusals: "refusals"
        }
    }
}
