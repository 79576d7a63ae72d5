import Foundation

/// Units that the app used up, under a name that makes a repeated call harmless.
public struct ConsumedUnits: Sendable, Codable, Equatable {
    public var consumptionID: String
    public var productID: String
    public var quantity: Int64
}
