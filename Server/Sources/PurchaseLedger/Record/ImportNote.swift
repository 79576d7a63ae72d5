import PurchaseVerification

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
