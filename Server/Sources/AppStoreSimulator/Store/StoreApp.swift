import Crypto
import Foundation

/// An app that is on sale.
public struct StoreApp: Codable, Hashable, Sendable {
    /// The bundle id; no two apps have the same.
    public let bundleID: String
    /// The number of the app in the store (`adam_id`).
    public var appID: UInt64
    public var name: String
    /// The version that customers have.
    public var version: String
    /// The secret that `verifyReceipt` requires; nil if none is required.
    public var sharedSecret: String?
    /// The number of days for which a subscription continues while its renewal cannot be paid; 0 for no grace period.
    public var gracePeriodDays: Int
    /// The environment names in the evidence of the app.
    public var environmentNames: EnvironmentNames
    /// Whether it was ever released; nil if it was. The production side of the App Store Server API refuses the tokens
    /// of an app that never was.
    public var isReleased: Bool?

    /// The identifier of a customer's copy of the app, the same in everything that is signed for them
    /// (`appTransactionId`).
    public func appTransactionID(of customer: StoreCustomer) -> String {
        Self.appTransactionID(bundleID, customer.customerID)
    }

    static func appTransactionID(_ bundleID: String, _ customerID: String) -> String {
        let octets = UUID(derivedFrom: "app transaction|\(bundleID)|\(customerID)").bytes
        let number = octets.prefix(7).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return "\(700_000_000_000_000_000 + number)"
    }
}

/// The environment in which a customer buys.
public enum StoreEnvironment: String, Codable, Hashable, Sendable, CaseIterable {
    /// Customers who pay.
    case production
    /// Testers, who pay nothing.
    case sandbox

    public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
}

/// The environment names in an app's evidence.
public enum EnvironmentNames: String, Codable, Hashable, Sendable, CaseIterable {
    /// `AssaySimulatorProduction` and `AssaySimulatorSandbox`, in evidence of every kind. Software that knows Apple's
    /// names does not mistake it for Apple's evidence, even if it trusts the simulator's root by mistake.
    /// `LocalTesting` is avoided deliberately: Apple's server libraries skip the signature check for it.
    case simulator
    /// Apple's own names. Many clients under test know no others. Then only the signer distinguishes the evidence from
    /// Apple's.
    case apple

    public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }

    /// The name in signed data (`environment`) and in answers of `verifyReceipt`.
    public func name(of environment: StoreEnvironment) -> String {
        switch (self, environment) {
        case (.simulator, .production): "AssaySimulatorProduction"
        case (.simulator, .sandbox): "AssaySimulatorSandbox"
        case (.apple, .production): "Production"
        case (.apple, .sandbox): "Sandbox"
        }
    }

    /// The name in app receipts (attribute 0, `receipt_type`).
    public func receiptType(of environment: StoreEnvironment) -> String {
        switch (self, environment) {
        case (.simulator, _): name(of: environment)
        case (.apple, .production): "Production"
        case (.apple, .sandbox): "ProductionSandbox"
        }
    }
}

/// A customer with an account in the store, and one device.
public struct StoreCustomer: Codable, Hashable, Sendable {
    /// The store's identifier of the customer.
    public let customerID: String
    /// Whether the customer pays.
    public let environment: StoreEnvironment
    /// The device identifier in the device hash of the customer's receipts: a UUID, as `identifierForVendor` is.
    public let deviceID: String
    /// The country of the account, in three letters.
    public var storefront: String
    /// How fast the subscriptions of a tester renew; nil for real time.
    public var subscriptionRenewalRate: SandboxRenewalRate?
}

/// How fast the subscriptions of a tester renew, by the names of the App Store Connect API
/// ("SandboxTesterV2.Attributes"). At any of these, a subscription renews at most twelve times after its purchase
/// (Apple, "Testing an auto-renewable subscription").
public enum SandboxRenewalRate: String, Codable, Hashable, Sendable, CaseIterable {
    case threeMinutes = "MONTHLY_RENEWAL_EVERY_THREE_MINUTES"
    case fiveMinutes = "MONTHLY_RENEWAL_EVERY_FIVE_MINUTES"
    case fifteenMinutes = "MONTHLY_RENEWAL_EVERY_FIFTEEN_MINUTES"
    case thirtyMinutes = "MONTHLY_RENEWAL_EVERY_THIRTY_MINUTES"
    case oneHour = "MONTHLY_RENEWAL_EVERY_ONE_HOUR"

    /// The number of renewals after a purchase.
    static let renewals = 12

    /// The number of minutes of a month.
    private var minutes: Int {
        switch self {
        case .threeMinutes: 3
        case .fiveMinutes: 5
        case .fifteenMinutes: 15
        case .thirtyMinutes: 30
        case .oneHour: 60
        }
    }

    /// The seconds of a number of days: a thirtieth of a month each, rounded up to whole minutes. No page has other
    /// numbers for the sandbox.
    func seconds(days: Int) -> TimeInterval { Double((days * minutes + 29) / 30 * 60) }

    /// The seconds of a period. Months and years are proportional, as in Apple's tables ("SKTestSession.TimeRate"); so
    /// are weeks where no page has a number.
    func seconds(_ period: StorePeriod, periods: Int) -> TimeInterval {
        let count = period.count * periods
        switch (period.unit, self) {
        case (.year, _): return Double(count * 12 * minutes * 60)
        case (.month, _): return Double(count * minutes * 60)
        case (.week, .fiveMinutes): return Double(count * 3 * 60)
        case (.week, .thirtyMinutes): return Double(count * 10 * 60)
        case (.week, .oneHour): return Double(count * 15 * 60)
        case (.week, _): return seconds(days: 7 * count)
        case (.day, _): return seconds(days: count)
        }
    }

    public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
}

extension SandboxRenewalRate? {
    /// The end of a period at this rate, or in real time.
    func end(of period: StorePeriod, from start: Date, periods: Int = 1) -> Date {
        map { start.addingTimeInterval($0.seconds(period, periods: periods)) }
            ?? period.end(from: start, periods: periods)
    }

    /// The seconds of a number of days at this rate, or in real time.
    func seconds(days: Int) -> TimeInterval { map { $0.seconds(days: days) } ?? Double(days) * 86_400 }
}

extension UUID {
    /// A UUID that looks random (RFC 9562, version 4) and is the same for the same text, so that a script that is run
    /// again gives the same devices and notifications.
    init(derivedFrom seed: String) {
        var octets = Array(SHA256.hash(data: Data(seed.utf8)).prefix(16))
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        self = octets.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
