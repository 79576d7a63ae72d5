import PurchaseVerification

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
