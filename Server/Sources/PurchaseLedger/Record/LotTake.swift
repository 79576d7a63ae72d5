import PurchaseVerification

/// Units taken from one lot, which is identified by outside names: numbers of the database may change in a rebuild.
struct LotTake: Codable, Sendable, Equatable {
    var environment: String
    var originalID: String?
    var second: Int64?
    /// The manual grant that gave the lot.
    var grantID: String?
    var units: Int64
}
