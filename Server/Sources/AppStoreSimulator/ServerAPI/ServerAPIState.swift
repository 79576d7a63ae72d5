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
