/// The seats whose access ends (Apple, "unclaimInfo"), in a notification of the type `UNCLAIM_SEATS`.
public struct NotificationUnclaimInfo: Sendable {
    public let appAppleID: UInt64?
    public let bundleID: String?
    public let environment: String?
    /// The seats, by the identifiers under which the backend assigned them.
    public let unclaimSeatIDs: [String]?
    /// Every claim without a field here, unchanged.
    public let otherClaims: [String: JSONValue]

    init(_ reader: inout ClaimReader) throws(VerificationError) {
        appAppleID = try reader.claim("appAppleId")
        bundleID = try reader.claim("bundleId")
        environment = try reader.claim("environment")
        unclaimSeatIDs = reader.description("unclaimSeatIds")
        otherClaims = try reader.others()
    }
}
