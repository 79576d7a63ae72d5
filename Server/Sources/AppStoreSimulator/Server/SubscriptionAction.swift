import Foundation
import Hummingbird

/// The fields of an action on a subscription.
struct SubscriptionAction: RequestBody {
    let works: Bool?
    let days: Int?
    let productID: String?

    static let members: [BodyMember] = ["works", "days", "product_id"]
}
