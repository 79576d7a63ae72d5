/// The holder of an earlier claim.
public enum PriorClaim: String, Sendable, CaseIterable {
    case anotherCustomer = "another_customer"
    case anotherOrder = "another_order"
    case restoredCopy = "restored_copy"
}
