public import PurchaseVerification

/// Identifies a transaction.
///
/// The App Store numbers transactions uniquely within an environment. Xcode starts again at 0 whenever its store is
/// reset, so its keys include the second of the purchase.
public struct TransactionKey: Sendable, Hashable {
    /// The environment of the purchase, from signed bytes.
    public let environment: AppStoreEnvironment
    public let transactionID: ExactText
    /// Seconds since 1970 of the purchase in Xcode; 0 in every other environment.
    public let second: Int64

    /// Creates the key of a stored row.
    public init(environment: AppStoreEnvironment, transactionID: ExactText, second: Int64 = 0) {
        self.environment = environment
        self.transactionID = transactionID
        self.second = second
    }

    /// Creates the key of a transaction that evidence proves.
    ///
    /// - Returns: `nil` in the Xcode environment if the date of purchase is missing.
    public init?(environment: AppStoreEnvironment, transactionID: ExactText, purchaseDate: Timestamp?) {
        guard environment == .xcode else {
            self.init(environment: environment, transactionID: transactionID)
            return
        }
        guard let purchaseDate else { return nil }
        self.init(environment: environment, transactionID: transactionID, second: purchaseDate.wholeSecond)
    }
}

extension Timestamp {
    /// Seconds since 1970, rounded down. Receipts state whole seconds, signed data milliseconds.
    var wholeSecond: Int64 {
        let (quotient, remainder) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

/// The original transaction that restored copies and renewed periods share.
public struct OriginalKey: Sendable, Hashable {
    /// The environment of the purchase.
    public let environment: AppStoreEnvironment
    /// The original transaction id.
    public let transactionID: ExactText
    /// Seconds since 1970 of the original purchase in Xcode, where ids repeat; 0 in every other environment.
    public let second: Int64

    /// Creates a key.
    public init(environment: AppStoreEnvironment, transactionID: ExactText, second: Int64 = 0) {
        self.environment = environment
        self.transactionID = transactionID
        self.second = second
    }
}

/// The Apple account that has copies of an original transaction, as far as evidence tells it apart.
public enum PurchaseHolder: Sendable, Hashable {
    /// The one who bought it. Evidence from before 2021 does not state the ownership type; then it counts as bought.
    case buyer
    /// A member of a family, by the member's download of the app; evidence from before 2025 does not state that.
    case family(appTransactionID: ExactText?)
    /// A member to whom a seat was assigned, by the member's download of the app.
    case assigned(appTransactionID: ExactText)
    /// A member whose download is not stated, by the member's transaction.
    case assignedTransaction(ExactText)

    /// A name that no other holder has.
    package var name: String { names.map(\.string).joined(separator: "/") }

    /// The parts of a name that no other holder has.
    package var names: [ExactText] {
        switch self {
        case .buyer: ["bought"]
        case .family(let id): ["shared"] + [id].compactMap(\.self)
        case .assigned(let id): ["assigned", id]
        case .assignedTransaction(let id): ["assigned_transaction", id]
        }
    }
}

/// The unit of one history of owners: the copies that one holder has of an original transaction. Members of a family or
/// a group own theirs independently of the buyer and of each other.
public struct OwnershipKey: Sendable, Hashable {
    /// The original transaction.
    public let original: OriginalKey
    public let holder: PurchaseHolder

    /// Creates a key.
    public init(original: OriginalKey, holder: PurchaseHolder = .buyer) {
        self.original = original
        self.holder = holder
    }

    /// Whether it was obtained through Family Sharing.
    public var isFamilyShared: Bool { if case .family = holder { true } else { false } }
}

/// The subscription that renewal info belongs to. Renewal info states neither an app nor the date of the purchase.
public struct RenewalKey: Sendable, Hashable {
    /// The environment of the subscription.
    public let environment: AppStoreEnvironment
    public let originalTransactionID: ExactText

    /// Creates a key.
    public init(environment: AppStoreEnvironment, originalTransactionID: ExactText) {
        self.environment = environment
        self.originalTransactionID = originalTransactionID
    }
}
