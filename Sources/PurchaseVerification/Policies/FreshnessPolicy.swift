/// Requires evidence that was signed recently, so that old evidence cannot be reused.
public struct FreshnessPolicy: PurchasePolicy {
    private let moment: AppStoreTime
    private let limit: Int64

    /// Clocks differ by this much without anything being wrong, in milliseconds.
    private static let tolerance: Int64 = 5 * 60_000

    /// - Parameters:
    ///   - moment: the time at which the evidence is used.
    ///   - limit: how old it may be, in milliseconds.
    public init(at moment: AppStoreTime, limit: Int64) {
        self.moment = moment
        self.limit = limit
    }

    public var name: String { "freshness" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard let signed = facts.signingDate else {
            throw VerificationError(.attributeMissing, expected: "a date of signing")
        }
        let age = moment.millisecondsSince1970.subtractingReportingOverflow(signed.millisecondsSince1970)
        guard !age.overflow, age.partialValue <= limit, age.partialValue >= -Self.tolerance else {
            throw VerificationError(
                .evidenceNotFresh, expected: "signed within \(limit / 1000) seconds before \(moment)",
                found: "\(signed)")
        }
    }
}
