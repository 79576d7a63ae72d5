import PurchaseVerification

/// A fact with its witness.
struct Witnessed<Value: CanonicalValue>: Sendable, Hashable {
    let value: Value
    let witness: Witness
}
