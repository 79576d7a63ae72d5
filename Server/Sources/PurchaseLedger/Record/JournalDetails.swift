import Foundation
import PurchaseVerification

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

/// How unverified evidence was stored. A rebuild does not need its bytes: it proved nothing when it was submitted.
enum UnverifiedPart: String, Codable, Sendable {
    case whole
    /// Beyond the budget: hash, size and the first kilobyte.
    case prefix

    /// Reads the part from the details of an entry; `nil` if its evidence was verified, or if it has none.
    init?(_ kind: JournalKind, details: [UInt8]) throws(LedgerStorageError) {
        let stated: UnverifiedPart?
        switch kind {
        case .claim: stated = try ClaimDetails(encoded: details).unverified
        case .decision: stated = try DecisionDetails(encoded: details).decided.unverified
        case .evidence: stated = try EvidenceDetails(encoded: details).unverified
        default: stated = nil
        }
        guard let stated else { return nil }
        self = stated
    }
}

/// `evidence`: the source of evidence without a claim.
struct EvidenceDetails: JournalDetails {
    static var kind: JournalKind { .evidence }
    var source: String
    var evidenceKind: String?
    /// Why it was not observed.
    var held: String?
    var unverified: UnverifiedPart?
}

/// `claim`: the fields of the request, and the decision.
struct ClaimDetails: JournalDetails {
    static var kind: JournalKind { .claim }
    /// Several transactions of one piece of evidence were restored at once.
    var isRestore: Bool
    var keyID: String?
    var sourceAddress: String?
    var customer: String?
    var order: String?
    var productID: String?
    var transactionID: String?
    var quantity: Int64?
    var evidenceKind: String?
    var expected: String?
    var found: String?
    var replayed: Bool
    var unverified: UnverifiedPart?
    /// The transfer policy in force.
    var transfer: String
    /// The transactions that the claim binds, with the outcome of each.
    var outcomes: [Outcome]
    /// The purpose of the question to the App Store, if there is one.
    var appStore: AppStoreQuestion?
    /// The names of members of the request that the server did not know.
    var unknownMembers: [String]?
    /// For a row of an import. Then `transactionID` is the transaction for the order.
    var imported: ImportNote?

    struct Outcome: Codable, Sendable, Equatable {
        var environment: String
        var transactionID: String
        var second: Int64?
        var code: String
        var binds: Bool
        /// The order that it paid.
        var order: String?
    }
}

extension ClaimDetails {
    func encoded() throws(LedgerStorageError) -> [UInt8] { abridged.canonicalJSON() }

    /// The only transaction of a claim is usually the one that it names, which an empty id represents.
    var abridged: ClaimDetails {
        var details = self
        if outcomes.count == 1, outcomes[0].transactionID.isSame(as: transactionID), transactionID != "" {
            details.outcomes[0].transactionID = ""
        }
        return details
    }

    var complete: ClaimDetails {
        var details = self
        if outcomes.count == 1, outcomes[0].transactionID.isEmpty, let transactionID {
            details.outcomes[0].transactionID = transactionID
        }
        return details
    }

    /// The maximum length of a recorded field, in bytes; more would only take space.
    private static let fieldBytes = 512
    /// The maximum number of recorded names of unknown members.
    static let unknownMemberLimit = 4
    /// The maximum length of the recorded name of an unknown member, in bytes.
    private static let memberBytes = 40

    /// The details with every field of the request shortened to the recorded length.
    func bounded() -> ClaimDetails {
        var bounded = self
        for field in [
            \ClaimDetails.customer, \.order, \.productID, \.transactionID, \.expected, \.found, \.sourceAddress,
            \.keyID,
        ] {
            bounded[keyPath: field] = bounded[keyPath: field].map(Self.bounded)
        }
        bounded.unknownMembers = unknownMembers?.prefix(Self.unknownMemberLimit).map {
            $0.utf8.count > Self.memberBytes
                ? String(decoding: $0.utf8.prefix(Self.memberBytes), as: UTF8.self) + "…" : $0
        }
        return bounded
    }

    /// A field in the form in which it is recorded.
    static func bounded(_ text: String) -> String {
        guard text.utf8.count > fieldBytes else { return text }
        return String(decoding: text.utf8.prefix(fieldBytes), as: UTF8.self) + "…"
    }
}

/// The purpose of the App Store's answer about a claim.
enum AppStoreQuestion: String, Codable, Sendable {
    /// The claim is decided after the answer.
    case waits
    /// The claim was granted already.
    case confirms
}

/// `app_store_answer`: the App Store's answer about a claim, or that it gave none in time. The entry's evidence is the
/// reply as it was received.
struct AppStoreAnswerDetails: JournalDetails {
    static var kind: JournalKind { .appStoreAnswer }
    /// The id of the claim's entry.
    var claim: String
    var environment: String?
    var status: Int64?
    var expected: String?
    var found: String?
    var isContradiction: Bool
    /// The cancellations that count. For a claim that waited, they are in its decision.
    var cancellations: [AppStoreAnswer.Cancellation]
}

/// `decision`: the outcome of a claim that waited for the App Store.
struct DecisionDetails: JournalDetails {
    static var kind: JournalKind { .decision }
    /// The id of the claim's entry.
    var claim: String
    /// The cancellations that the App Store stated.
    var cancellations: [AppStoreAnswer.Cancellation]
    /// The account tokens that the App Store stated.
    var tokens: [AppStoreAnswer.StatedToken]
    var decided: ClaimDetails
}

/// `refusals`: several refused pieces of evidence of one request, or the refusals of one API key beyond the daily
/// budget.
struct RefusalsDetails: JournalDetails {
    static var kind: JournalKind { .refusals }
    var keyID: String?
    var sourceAddress: String?
    /// The customer of the request; `nil` for counted refusals.
    var customer: String?
    /// The number of pieces, or of counted refusals.
    var count: Int64
    /// The number with each code.
    var codes: [String: Int64]
    /// The SHA-256, in hexadecimal, of each piece whose bytes were stored.
    var kept: [String]
    /// The SHA-256 of each other piece; of counted refusals, only of the last evidence.
    var hashes: [String]
    /// When the first of the counted refusals was refused, in milliseconds since 1970; `nil` for the pieces of one
    /// request.
    var since: Int64?
}

/// What an import records in addition to a claim.
struct ImportNote: Codable, Sendable, Equatable {
    /// Whether webhooks deliver the events.
    var announced: Bool
    /// When the existing system received the evidence, in milliseconds since 1970.
    var at: Int64?
    /// What became of the units of consumables (`ImportedConsumables`); `nil` if the row had none.
    var consumables: String?
    /// The lots that the existing system had delivered.
    var takes: [LotTake]?
}

/// `order_created`.
struct OrderCreatedDetails: JournalDetails {
    static var kind: JournalKind { .orderCreated }
    var customer: String
    var productID: String
    var quantity: Int64
    var environment: String?
    /// Whether an automatic renewal pays it; `nil` for `false`.
    var acceptsRenewal: Bool?
    var token: String
    /// Whether the token is new and is assigned to the customer by this order.
    var assignsToken: Bool
    var metadata: String?
    var expiresAt: Int64
}

/// `order_cancelled`.
struct OrderCancelledDetails: JournalDetails {
    static var kind: JournalKind { .orderCancelled }
    var keyID: String?
}

/// `order_fulfilled`: for a consumable, with the units that fulfilment took from the lot.
struct OrderFulfilledDetails: JournalDetails {
    static var kind: JournalKind { .orderFulfilled }
    var keyID: String?
    var takes: [LotTake]
    /// The delivered units; `nil` for the whole order, as recorded before it could be delivered in parts.
    var units: Int64?
    /// The units that remained afterwards; `nil` for 0.
    var remaining: Int64?
}

/// `order_closed`.
struct OrderClosedDetails: JournalDetails {
    static var kind: JournalKind { .orderClosed }
    var keyID: String?
    var reason: String
}

/// `consumed`.
struct ConsumedDetails: JournalDetails {
    static var kind: JournalKind { .consumed }
    var customer: String
    var consumptionID: String
    var productID: String
    var environment: String
    var quantity: Int64
    var takes: [LotTake]
}

/// Units taken from one lot, which is identified by outside names: numbers of the database may change in a rebuild.
struct LotTake: Codable, Sendable, Equatable {
    var environment: String
    var originalID: String?
    var second: Int64?
    /// The manual grant that gave the lot.
    var grantID: String?
    var units: Int64
}

/// `token_assigned`.
struct TokenAssignedDetails: JournalDetails {
    static var kind: JournalKind { .tokenAssigned }
    var customer: String
    var token: String
}

/// `purchase_moved`.
struct PurchaseMovedDetails: JournalDetails {
    static var kind: JournalKind { .purchaseMoved }
    var environment: String
    var transactionID: String
    var second: Int64?
    /// The random reference of the former owner: the entry belongs to the new owner, and is kept when the former one is
    /// erased.
    var from: String?
    var to: String
    var reason: String
}

/// `customer_merged`.
struct CustomerMergedDetails: JournalDetails {
    static var kind: JournalKind { .customerMerged }
    /// The random reference of the customer who was merged.
    var from: String
    var into: String
    var reason: String?
}

/// `grant_added`.
struct GrantAddedDetails: JournalDetails {
    static var kind: JournalKind { .grantAdded }
    var grantID: String
    var customer: String
    var productID: String
    var environment: String
    var kind: String
    var quantity: Int64
    var startsAt: Int64
    var endsAt: Int64?
    var reason: String
}

/// `ground_added`: a product that another shop gives. The same id again changes the end.
struct GroundAddedDetails: JournalDetails {
    static var kind: JournalKind { .groundAdded }
    var groundID: String
    var customer: String
    var source: String
    var reference: String
    var productID: String
    var environment: String
    var kind: String
    var startsAt: Int64
    var endsAt: Int64?
}

/// `ground_ended`.
struct GroundEndedDetails: JournalDetails {
    static var kind: JournalKind { .groundEnded }
    var groundID: String
}

/// `revocation_added`.
struct RevocationAddedDetails: JournalDetails {
    static var kind: JournalKind { .revocationAdded }
    var revocationID: String
    var customer: String
    var environment: String?
    var transactionID: String?
    var second: Int64?
    var grantID: String?
    var reason: String
}

/// `act_lifted`.
struct ActLiftedDetails: JournalDetails {
    static var kind: JournalKind { .actLifted }
    var id: String
    var reason: String?
}

/// `testers_changed`.
struct TestersChangedDetails: JournalDetails {
    static var kind: JournalKind { .testersChanged }
    var customer: String
    var isTester: Bool
    var reason: String?
}

/// `settings`: an app's settings as canonical JSON.
struct SettingsDetails: JournalDetails {
    static var kind: JournalKind { .settings }
    var settings: String
}

/// `bundle_bound`.
struct BundleBoundDetails: JournalDetails {
    static var kind: JournalKind { .bundleBound }
    var bundleID: String
}

/// `key_created`.
struct KeyCreatedDetails: JournalDetails {
    static var kind: JournalKind { .keyCreated }
    var keyID: String
    var name: String
    var scopes: [String]
    var secretSHA256: String
}

/// `key_revoked`.
struct KeyRevokedDetails: JournalDetails {
    static var kind: JournalKind { .keyRevoked }
    var keyID: String
}

/// `rules`.
struct RulesDetails: JournalDetails {
    static var kind: JournalKind { .rules }
    var version: Int64
    /// Why the tables were rewritten; `nil` if they were not.
    var repair: String?
    /// The number of events `corrected` that the repair wrote.
    var corrections: Int64?
    /// The hash of their subjects (`Corrections`).
    var correctionsSHA256: String?
}

/// `record_continued`: the log that ended, and the reason. It is the first leaf that the new origin signs.
struct RecordContinuedDetails: JournalDetails {
    static var kind: JournalKind { .recordContinued }
    /// The origin that ended.
    var origin: String
    /// The last signed size.
    var size: Int64
    /// The root at that size, in hexadecimal.
    var root: String
    /// The size of the log after the restore.
    var found: Int64
    var newOrigin: String
    var reason: String
}
