import PurchaseVerification
import Synchronization

import struct Foundation.UUID

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
    /// Whether it made its customer, as a guest; absent otherwise.
    var guest: Bool?
    /// Present if it may take purchases over from guests.
    var takeOver: GuestRestore?
    /// The transfer policy in force. A restore that the customer did not ask for has `deny`.
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
        /// The random reference of the guest from whom it took the original over.
        var from: String?
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

extension ClaimDetails {
    /// The bytes that `JSONEncoder` writes with sorted keys. Every purchase has such details, and they are written by
    /// the only thread that writes to the database, where the encoder takes longer than all statements of a purchase.
    func canonicalJSON() -> [UInt8] {
        var json = JSONText(capacity: 512)
        json.open()
        json.add("appStore", appStore?.rawValue)
        json.add("customer", customer)
        json.add("evidenceKind", evidenceKind)
        json.add("expected", expected)
        json.add("found", found)
        if let guest { json.add("guest", guest) }
        if let imported {
            json.key("imported")
            json.open()
            json.add("announced", imported.announced)
            json.add("at", imported.at)
            json.add("consumables", imported.consumables)
            if let takes = imported.takes {
                json.key("takes")
                json.list(takes) { json, take in
                    json.open()
                    json.add("environment", take.environment)
                    json.add("grantID", take.grantID)
                    json.add("originalID", take.originalID)
                    json.add("second", take.second)
                    json.add("units", take.units)
                    json.close()
                }
            }
            json.close()
        }
        json.add("isRestore", isRestore)
        json.add("keyID", keyID)
        json.add("order", order)
        json.key("outcomes")
        json.list(outcomes) { json, outcome in
            json.open()
            json.add("binds", outcome.binds)
            json.add("code", outcome.code)
            json.add("environment", outcome.environment)
            json.add("from", outcome.from)
            json.add("order", outcome.order)
            json.add("second", outcome.second)
            json.add("transactionID", outcome.transactionID)
            json.close()
        }
        json.add("productID", productID)
        json.add("quantity", quantity)
        json.add("replayed", replayed)
        json.add("sourceAddress", sourceAddress)
        if let takeOver {
            json.key("takeOver")
            json.open()
            json.add("appTransaction", takeOver.appTransaction)
            json.close()
        }
        json.add("transactionID", transactionID)
        json.add("transfer", transfer)
        if let unknownMembers {
            json.key("unknownMembers")
            json.strings(unknownMembers)
        }
        json.add("unverified", unverified?.rawValue)
        json.close()
        return json.bytes
    }
}

/// Refusals beyond the daily budget of one API key, which are counted and not recorded one by one.
struct CountedRefusals: Sendable, Equatable {
    var app: String
    var keyID: String?
    /// The number of refusals with each code.
    var codes: [String: Int64]
    /// The hash of the last evidence; `nil` if no refusal had evidence.
    var lastSHA256: [UInt8]?
    /// When the first of them was refused.
    var since: Timestamp

    var count: Int64 { codes.values.reduce(0, +) }

    /// The most frequent code; of several, the first in the alphabet.
    var code: String { codes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? "" }

    mutating func add(_ later: CountedRefusals) {
        codes.merge(later.codes, uniquingKeysWith: +)
        lastSHA256 = later.lastSHA256 ?? lastSHA256
        since = min(since, later.since)
    }
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
    /// As of a claim (`ClaimDetails.guest`).
    var guest: Bool?
}

/// The refusals that one write counted. They count once it is committed.
final class RefusalNotes {
    private(set) var counted: [CountedRefusals] = []

    func note(_ refusals: CountedRefusals) { counted.append(refusals) }
}

/// The refusals of a process that are counted and not recorded yet, in memory. Its size is bounded by the number of API
/// keys.
final class RefusalCounts: Sendable {
    /// A part of the counts, under the entry that will record it.
    struct Batch: Sendable {
        let id: UUID
        let refusals: CountedRefusals
    }

    private struct Sender: Hashable {
        let app: String
        let keyID: String?
    }

    private struct State {
        var counted: [Sender: CountedRefusals] = [:]
        /// Batches whose write failed, or may have failed. They keep their ids, so that none is recorded twice.
        var postponed: [Batch] = []
    }

    private let state = Mutex(State())

    func add(_ refusals: [CountedRefusals]) {
        guard !refusals.isEmpty else { return }
        state.withLock { state in
            for later in refusals {
                let sender = Sender(app: later.app, keyID: later.keyID)
                if state.counted[sender]?.add(later) == nil { state.counted[sender] = later }
            }
        }
    }

    /// Takes everything that is not recorded, one batch for each key, in one order.
    func take(at now: Timestamp) -> [Batch] {
        state.withLock { state in
            defer { state = State() }
            let counted = state.counted.values.sorted { ($0.app, $0.keyID ?? "") < ($1.app, $1.keyID ?? "") }
            return state.postponed + counted.map { Batch(id: TimeOrderedID.next(at: now), refusals: $0) }
        }
    }

    /// Keeps batches for the next time.
    func postpone(_ batches: [Batch]) { state.withLock { $0.postponed = batches + $0.postponed } }
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

/// `evidence`: the source of evidence without a claim.
struct EvidenceDetails: JournalDetails {
    static var kind: JournalKind { .evidence }
    var source: String
    var evidenceKind: String?
    /// Why it was not observed.
    var held: String?
    var unverified: UnverifiedPart?
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

/// The purpose of the App Store's answer about a claim.
enum AppStoreQuestion: String, Codable, Sendable {
    /// The claim is decided after the answer.
    case waits
    /// The claim was granted already.
    case confirms
}
