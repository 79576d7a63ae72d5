import PurchaseVerification

/// A claim as it was sent, before it is verified.
public struct PurchaseSubmission: Sendable {
    /// The app of the API key that the claim was sent with.
    public var app: String
    public var keyID: String?
    public var sourceAddress: String?
    public var claim = ClaimFields()
    /// The evidence as it was sent.
    public var evidence: [UInt8]?
    /// The error in the request itself.
    public var flaw: Rejection?
    /// The names of members that the server does not know.
    public var unknownMembers: [String] = []
    /// Whether it is a restore whose body cannot be read.
    public var isRestore = false
    /// Whether the evidence is the beginning of a body that cannot be read.
    public private(set) var isMalformedBody = false

    /// The maximum number of unknown members that are recorded and named in the answer.
    public static let unknownMemberLimit = ClaimDetails.unknownMemberLimit
    /// The bytes of a body that cannot be read which are kept.
    public static let malformedBytes = 1024
    /// The kind of evidence under which they are recorded.
    static let malformedKind = "malformed_body"

    /// Keeps the beginning of a body that cannot be read as the submission's evidence, within the budget of unverified
    /// evidence.
    public mutating func keepMalformed(_ body: [UInt8]) {
        guard !body.isEmpty else { return }
        evidence = Array(body.prefix(Self.malformedBytes))
        isMalformedBody = true
    }

    /// An empty submission.
    public init(app: String) { self.app = app }
}

extension PurchaseLedger {
    /// Verifies the evidence of a claim.
    public func examine(_ submission: PurchaseSubmission) -> ExaminedSubmission {
        let bytes = submission.evidence.flatMap { $0.isEmpty ? nil : $0 }
        var flaw = submission.flaw
        if flaw == nil {
            do throws(Rejection) {
                try submission.claim.requireComplete(hasEvidence: bytes != nil)
            } catch {
                flaw = error
            }
        }
        return ExaminedSubmission(
            submission: submission, evidence: bytes.map { examine($0) }, flaw: flaw)
    }
}
