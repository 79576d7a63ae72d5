/// Names that other libraries of an app have: of time, of evidence, of payments. The kit must have none of them,
/// because a name that two imported modules have is ambiguous in every file of the app.
public struct Verified { public init() {} }
public struct Unverified { public init() {} }
public struct Evidence { public init() {} }
public struct Timestamp { public init() {} }
public struct SubscriptionStatus { public init() {} }
public struct OfferType { public init() {} }
public struct TransactionKey { public init() {} }
public struct ProductKind { public init() {} }
public struct SystemTime { public init() {} }
public struct PaymentRequest { public init() {} }
