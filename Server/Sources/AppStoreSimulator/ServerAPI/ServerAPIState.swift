import Foundation

/// What the store keeps for the App Store Server API, besides its purchases.
struct ServerAPIState: Codable, Equatable, Sendable {
    /// By their ids.
    var keys: [String: StoreAPIKey] = [:]
    /// Multiplies Apple's limits.
    var limitFactor = 1.0
    var faults: [ServerAPIFault] = []
    /// The events of test notifications, by their tokens.
    var testNotifications: [String: Int] = [:]
    /// By app, environment, product and identifier of the request.
    var massExtensions: [String: MassExtensionRecord] = [:]
    /// What developers said about consumption, by transaction.
    var consumption: [String: ConsumptionRecord] = [:]
    /// The claims of seats that the app's backend gives away, by original transaction.
    var seatClaims: [String: [SeatClaim]] = [:]
    /// The realtime URLs of the Retention Messaging API, by app and environment. (Coding keys with "URL" do not survive
    /// snake case.)
    var realtimeAddresses: [String: String] = [:]
}

/// What the developer said about the consumption of a transaction.
struct ConsumptionRecord: Codable, Equatable, Sendable {
    let date: Date
    /// 1 for the deprecated call, 2 for the present one.
    let version: Int
    let isConsented: Bool
    let isSampleProvided: Bool?
    /// In the words of version 2; a number in version 1.
    let deliveryStatus: String?
    /// In thousandths of a percent.
    let percentage: Int64?
    let refundPreference: String?
}

/// An extension for all subscribers of a product, with its outcome.
struct MassExtensionRecord: Codable, Equatable, Sendable {
    let requestIdentifier: String
    let date: Date
    let succeededCount: Int64
    let failedCount: Int64
}

/// A seat that the app's backend gave to a member.
struct SeatClaim: Codable, Equatable, Sendable {
    /// A UUID in small letters.
    let seatClaimID: String
    /// The same identifier again claims no further seat.
    let requestIdentifier: String
    /// The member, if the backend has named one: with the claim, or later.
    var appTransactionID: String?
}
