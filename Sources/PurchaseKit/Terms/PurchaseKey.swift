/// The identity of a transaction: two environments may use the same numbers.
public struct PurchaseKey: Sendable, Codable, Hashable {
    /// The environment; `nil` if nothing signed names it yet.
    public var environment: String?
    public var transactionID: String

    /// A transaction of an environment.
    public init(environment: String?, transactionID: String) {
        self.environment = environment
        self.transactionID = transactionID
    }

    /// Whether both are the same transaction, as far as their environments are known.
    func matches(_ other: PurchaseKey) -> Bool {
        transactionID == other.transactionID
            && (environment == nil || other.environment == nil || environment == other.environment)
    }
}
