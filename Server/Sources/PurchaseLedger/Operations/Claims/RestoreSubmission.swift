public import PurchaseVerification

public import struct Foundation.UUID

/// Evidence from which a customer restores all of their purchases.
public struct RestoreSubmission: Sendable {
    /// The most pieces of evidence in one request.
    public static let maximum = 100

    public var app: String
    public var keyID: String?
    public var sourceAddress: String?
    public var customerID: String
    /// A receipt, or signed transactions.
    public var evidence: [[UInt8]]
    /// The names of members of the request that the server does not know.
    public var unknownMembers: [String] = []
    /// Whether the customer asked for it. Otherwise it transfers nothing.
    public var isRequested = false
    /// Whether the app says that the customer is a guest.
    public var isGuest = false
    /// A signed app transaction, for the purchases of guests.
    public var appTransaction: [UInt8]?

    /// The evidence of a customer.
    public init(app: String, customerID: String, evidence: [[UInt8]]) {
        self.app = app
        self.customerID = customerID
        self.evidence = evidence
    }
}

/// Evidence for a restore, with the result of its verification.
public struct ExaminedRestore: Sendable {
    let submission: RestoreSubmission
    let evidence: [ExaminedEvidence]
    /// The app transaction of the request, if it is one.
    var appTransaction: ExaminedEvidence?
    /// What it might take over when it began to wait for the App Store.
    var waited: GuestRestore?

    /// The reason of each piece that failed verification.
    public var rejections: [Rejection] { (evidence + [appTransaction].compactMap(\.self)).compactMap(\.rejection) }

    /// Present if the restore may take purchases over from guests.
    func takeOver(under app: RegisteredApp, at now: Timestamp) -> GuestRestore? {
        guard submission.isRequested, app.guestRestore == .move else { return nil }
        return waited ?? GuestRestore(appTransaction: appTransaction?.appTransaction(of: app, at: now))
    }
}

extension RestoreSubmission {
    /// The policy for the purchases of other customers.
    func transfer(under app: RegisteredApp) -> TransferPolicy { isRequested ? app.transfer : .deny }
}

extension ExaminedEvidence {
    /// The app transaction that it is, if the App Store signed it for the app in the last hour.
    fileprivate func appTransaction(of app: RegisteredApp, at now: Timestamp) -> String? {
        guard case .appTransaction(let signed) = content, objection(app) == nil, let environment,
            let id = signed.appTransactionID, let signedAt = signed.signedDate ?? signed.creationDate,
            abs(now.millisecondsSince1970 - signedAt.millisecondsSince1970) <= GuestTakeover.appTransactionLasts
        else { return nil }
        return GuestRestore.appTransaction(id, in: environment)
    }
}

extension PurchaseLedger {
    /// Records the evidence of a restore whose request is wrong: genuine pieces contain facts from Apple all the same.
    /// Several pieces that fail verification make one entry, as in a restore.
    ///
    /// - Parameters:
    ///   - examined: the evidence. The customer's name is not used.
    ///   - flaw: what is wrong with the request.
    /// - Returns: the number of pieces beyond the daily budget, which are only counted.
    public func observe(_ examined: ExaminedRestore, flaw: Rejection) async throws -> Int {
        var counted = 0
        var together: Set<Int> = []
        if let refusals = RestoreRefusals(of: examined), !refusals.isSingle {
            together = refusals.places
            counted += try await perform(RecordRefusedPieces(examined: examined))
        }
        for (index, evidence) in examined.evidence.enumerated() where !together.contains(index) {
            var submission = EvidenceSubmission(app: examined.submission.app, source: "restore", evidence: [])
            (submission.keyID, submission.flaw) = (examined.submission.keyID, flaw)
            let piece = self.examined(submission, evidence)
            if try await perform(ObserveEvidence(piece)).isCounted { counted += 1 }
        }
        return counted
    }
}

/// Writes one entry about the pieces of a wrong request that failed verification, or counts them.
private struct RecordRefusedPieces: LedgerOperation {
    let examined: ExaminedRestore

    func perform(_ transaction: LedgerTransaction) throws -> Int {
        guard let refusals = RestoreRefusals(of: examined) else { return 0 }
        let app = try transaction.app(examined.submission.app)
        var outcome = RestoreOutcome(purchases: [], refused: [], entitlements: [])
        if try !refusals.count(app, transaction, &outcome) { try refusals.write(app, nil, transaction, &outcome) }
        return outcome.counted
    }
}

/// One purchase of a restore.
public struct RestoredPurchase: Sendable, Equatable {
    /// The journal entry; `nil` if the piece of evidence was only counted.
    public var submissionID: UUID?
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    /// Why it currently gives the customer nothing; for an expired or withdrawn purchase that is not an error. `nil` if
    /// it gives access.
    public var rejection: Rejection?
    public var disposition: Disposition
    public var isReplayed: Bool
    public var claimedBy: PriorClaim?
    public var expiresAt: Timestamp?

    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
    /// The explanation of the code, as a sentence.
    public var sentence: String { rejection?.sentence ?? DecisionCode.accepted.sentence }
}

extension RestoredPurchase {
    /// The outcome of a claim.
    init(_ claim: PurchaseClaim, _ record: TransactionRecord, _ entry: JournalEntry?) {
        self.init(
            submissionID: entry?.id, leafHash: entry?.leafHash ?? [], environment: claim.proven.key.environment,
            transactionID: claim.proven.key.transactionID.string,
            originalTransactionID: record.facts.original.transactionID.string,
            productID: claim.proven.productID?.string ?? "", rejection: claim.refusal,
            disposition: claim.refusal?.disposition(hasPurchase: claim.hasPurchase) ?? .granted,
            isReplayed: claim.isReplayed, claimedBy: claim.refusal?.priorClaim, expiresAt: record.facts.end)
    }
}

/// The answer to a restore.
public struct RestoreOutcome: Sendable, Equatable {
    /// The purchases, in the order of the evidence, each once.
    public var purchases: [RestoredPurchase]
    /// Evidence that was refused, by its place in the request.
    public var refused: [RefusedEvidence]
    /// The customer's current entitlements to the restored products.
    public var entitlements: [Entitlement]
    /// The claims of this restore that wait for the App Store, with the evidence of each.
    public var waiting: [WaitingEvidence] = []
    /// The claims of this restore to check with the App Store.
    public var asksAppStore: [UUID] = []
    /// The customer into whom the named one was merged; `nil` if it was not.
    public var mergedInto: String?
    /// The number of pieces beyond the daily budget, which are only counted and have no entry.
    public var counted = 0
    /// Whether the customer owns one of the purchases.
    public var ownsPurchase = false
    /// Whether an app transaction of the last hour might let the restore take over what was refused.
    public var needsAppTransaction = false
    /// The entries that were written.
    var entries: [UUID] = []
}

extension RestoreOutcome {
    /// The outcome with its refusals in the order of the request, and the entitlements to the restored products.
    ///
    /// - Parameters:
    ///   - entitlements: all entitlements of the customer.
    ///   - restore: the pieces, in the order of the request.
    func completed(
        with entitlements: [Entitlement], _ restore: ExaminedRestore, _ app: RegistryApp, at now: Timestamp
    ) -> RestoreOutcome {
        var outcome = self
        outcome.refused.sort { $0.index < $1.index }
        RestoreOrder.sort(&outcome.purchases, by: restore.evidence)
        let isOfAnother = [DecisionCode.alreadyClaimed, .appAccountTokenMismatch].map(\.rawValue)
        if let terms = restore.takeOver(under: app.settings, at: now), terms.appTransaction == nil {
            outcome.needsAppTransaction = purchases.contains { isOfAnother.contains($0.code) }
        }
        outcome.entitlements = entitlements.filter { entitlement in
            purchases.contains { ExactText($0.productID) == ExactText(entitlement.productID) }
        }
        return outcome
    }
}
