import Foundation
import Hummingbird

/// The fields of an action on a transaction.
struct TransactionAction: RequestBody {
    let reason: Int?
    let percentage: Int64?
    let customerID: String?
    let seats: UInt64?

    static let members: [BodyMember] = ["reason", "percentage", "customer_id", "seats"]
}
