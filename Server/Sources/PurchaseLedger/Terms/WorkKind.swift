public import PurchaseVerification

/// What is asked of the App Store, and told.
public enum WorkKind: String, Sendable, CaseIterable {
    /// A claim, by its entry.
    case claim
    /// Apple's question about a purchase whose refund was requested, by the entry of the notification.
    case refund
    /// An operator's request that Apple extends a subscription, by its entry.
    case `extension`
    /// A report about an external purchase token, by the id of the token.
    case externalPurchase = "external_purchase"
    /// The notifications of an app that did not arrive.
    case notifications
    /// The status of a subscription whose period has ended without news.
    case status
    /// The account token of a purchase is set at Apple.
    case token
    /// The history and the statuses of a customer of Apple's, by one of their purchases.
    case history

    /// Whether an entry of the journal gave reason for it. Such work is deleted when it is done.
    public var isOfEntry: Bool { self == .claim || self == .refund || self == .extension }

    /// How long one server may work without noting its progress, in milliseconds. If the server dies, the work is free
    /// again after this time.
    ///
    /// What changes something at Apple is given the longest time that a call can wait for its turn and for a reply,
    /// with its repetitions: nobody else may begin it meanwhile.
    public var lease: Int64 {
        switch self {
        case .refund, .extension, .externalPurchase: 600_000
        case .claim, .notifications, .status, .token, .history: 120_000
        }
    }
}

/// Work that waits, and since when.
public struct WaitingWork: Sendable, Equatable {
    /// How much, counted up to a limit.
    public var count: Int
    /// When the oldest of the counted began to wait; `nil` if nothing waits.
    public var oldest: Timestamp?
}
