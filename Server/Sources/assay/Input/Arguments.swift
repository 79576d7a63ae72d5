public import ArgumentParser
public import Foundation
public import PurchaseLedger
public import PurchaseVerification

extension Timestamp: @retroactive ExpressibleByArgument {
    /// RFC 3339, such as `2026-01-31T12:00:00Z`.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension DeviceIdentifier: @retroactive ExpressibleByArgument {
    /// A UUID, or hexadecimal bytes.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension AppStoreEnvironment: @retroactive ExpressibleByArgument {
    /// The environment of an argument; the names that are known are taken in any case.
    public init(argument: String) {
        switch argument.lowercased() {
        case "production": self = .production
        case "sandbox": self = .sandbox
        case "xcode": self = .xcode
        default: self = .other(argument)
        }
    }
}

extension APIKeyScope: ExpressibleByArgument {}

extension ConsumptionRequestState: ExpressibleByArgument {}

extension OrderStatus: ExpressibleByArgument {}
extension ImportedConsumables: ExpressibleByArgument {}

extension UUID: @retroactive ExpressibleByArgument {
    /// 32 hexadecimal digits with dashes.
    public init?(argument: String) {
        self.init(uuidString: argument)
    }
}
