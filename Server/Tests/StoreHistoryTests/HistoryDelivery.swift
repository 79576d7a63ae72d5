/// Evidence on its way to the server.
enum HistoryDelivery: Sendable {
    /// Evidence without a claim.
    case observation([UInt8])
    /// Evidence with the claim of a transaction.
    case claim(String, original: String, productID: String, by: String, [UInt8])
    /// Evidence with which a customer restores all purchases in it.
    case restore(by: String, originals: [String], [UInt8])

    var claimant: String? {
        switch self {
        case .observation: nil
        case .claim(_, _, _, let customer, _), .restore(let customer, _, _): customer
        }
    }

    var claimedOriginals: [String] {
        switch self {
        case .observation: []
        case .claim(_, let original, _, _, _): [original]
        case .restore(_, let originals, _): originals
        }
    }
}
