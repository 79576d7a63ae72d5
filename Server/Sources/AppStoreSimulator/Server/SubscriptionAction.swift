import Foundation
import Hummingbird

/// The fields of an action on a subscription.
struct SubscriptionAction: RequestBody {
    let works: Bool?
    let days: Int?
    let productID: String?
    let seats: UInt64?
    let customerID: String?
    let notificationType: String?

    static let members: [BodyMember] = [
        "works", "days", "product_id", "seats", "customer_id", "notification_type",
    ]

    func requiredSeats() throws(StoreError) -> UInt64 {
        guard let seats else { throw StoreError(.invalidValue, "'seats' is missing: their number.") }
        return seats
    }
}
