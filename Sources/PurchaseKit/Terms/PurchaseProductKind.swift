/// The kind of a product, as signed evidence states it.
public enum PurchaseProductKind: String, Sendable, Codable {
    case consumable
    case nonConsumable = "non_consumable"
    case nonRenewingSubscription = "non_renewing_subscription"
    case autoRenewableSubscription = "auto_renewable_subscription"
}
