import Foundation

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
