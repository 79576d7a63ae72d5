public import PurchaseVerification

/// An event or a notification that was given up after its last attempt.
public struct DeadDelivery: Sendable, Equatable {
    /// Its cursor in the list of events; of a notification, the number of its entry.
    public var event: Int64
    public var type: String
    public var attempts: Int
    public var firstAt: Timestamp?
    public var lastError: String?
}
