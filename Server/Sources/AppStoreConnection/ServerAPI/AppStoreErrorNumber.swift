public import PurchaseVerification

/// A number of an error of the App Store Server API (Apple, "Error codes"). Unknown ones are kept.
public struct AppStoreErrorNumber: OpenValue {
    public let rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static let invalidTransactionID = Self(rawValue: 4_000_006)
    public static let startDateTooFarInPast = Self(rawValue: 4_000_012)
    public static let invalidPaginationToken = Self(rawValue: 4_000_014)
    public static let invalidRevision = Self(rawValue: 4_000_005)
    public static let paginationTokenExpired = Self(rawValue: 4_000_017)
    /// Of the External Purchase Server API: a value was submitted before.
    public static let duplicateValue = Self(rawValue: 1)
    /// Of the External Purchase Server API: the token was reported with line items before.
    public static let lineItemStatusRegression = Self(rawValue: 8)
    /// Of the External Purchase Server API: another report with the same data is being taken.
    public static let simultaneousSubmission = Self(rawValue: 26)
    /// Of the External Purchase Server API: the report, or what a member refers to, is not known.
    public static let reportNotFound = Self(rawValue: 3)
    public static let transactionIDNotOriginal = Self(rawValue: 4_000_187)
    public static let familyTransactionNotSupported = Self(rawValue: 4_000_185)
    public static let appTransactionIDNotSupported = Self(rawValue: 4_000_048)
    public static let subscriptionExtensionIneligible = Self(rawValue: 4_030_004)
    public static let subscriptionMaximumExtension = Self(rawValue: 4_030_005)
    public static let familySharedExtensionIneligible = Self(rawValue: 4_030_007)
    public static let accountNotFound = Self(rawValue: 4_040_001)
    public static let accountNotFoundRetryable = Self(rawValue: 4_040_002)
    public static let appNotFound = Self(rawValue: 4_040_003)
    public static let appNotFoundRetryable = Self(rawValue: 4_040_004)
    public static let originalTransactionIDNotFound = Self(rawValue: 4_040_005)
    public static let originalTransactionIDNotFoundRetryable = Self(rawValue: 4_040_006)
    public static let serverNotificationURLNotFound = Self(rawValue: 4_040_007)
    public static let testNotificationNotFound = Self(rawValue: 4_040_008)
    public static let transactionIDNotFound = Self(rawValue: 4_040_010)
    public static let rateLimitExceeded = Self(rawValue: 4_290_000)
    public static let generalInternal = Self(rawValue: 5_000_000)
    public static let generalInternalRetryable = Self(rawValue: 5_000_001)

    /// Whether Apple says that the same call may succeed later.
    var isRetryable: Bool {
        [
            .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIDNotFoundRetryable,
            .generalInternalRetryable, .generalInternal,
        ].contains(self)
    }

    /// Whether the environment does not know an identifier; the other one may.
    var isOfOtherEnvironment: Bool {
        [.transactionIDNotFound, .originalTransactionIDNotFound, .invalidTransactionID].contains(self)
    }

    /// Whether the App Store does not know what was asked for: the numbers of 404.
    var isNotFound: Bool { (4_040_000..<4_050_000).contains(rawValue) || self == .invalidTransactionID }
}
