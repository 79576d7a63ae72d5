/// How likely the store grants a refund, in percent, by what the developer prefers. Apple's own odds are unknown.
public struct RefundOdds: Codable, Hashable, Sendable {
    /// With the preference `DECLINE`.
    public var decline: Int
    /// With the preference `GRANT_FULL`.
    public var grantFull: Int
    /// With the preference `GRANT_PRORATED`; the rest of the price after the consumed share is refunded.
    public var grantProrated: Int
    /// With an answer without a preference.
    public var noPreference: Int
    /// Without an answer.
    public var noAnswer: Int

    /// The chance of a request.
    func percentage(for answer: RefundRequest.Answer?) -> Int {
        guard let answer else { return noAnswer }
        switch answer.preference {
        case "DECLINE": return decline
        case "GRANT_FULL": return grantFull
        case "GRANT_PRORATED": return grantProrated
        default: return noPreference
        }
    }

    func check() throws(StoreError) {
        guard [decline, grantFull, grantProrated, noPreference, noAnswer].allSatisfy({ (0...100).contains($0) }) else {
            throw StoreError(.invalidValue, "The odds of a refund are 0 to 100 percent.")
        }
    }
}
