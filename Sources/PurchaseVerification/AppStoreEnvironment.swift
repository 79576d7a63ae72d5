/// Where a purchase was made.
public enum AppStoreEnvironment: Sendable, Hashable {
    /// The App Store: somebody paid.
    case production
    /// Apple's sandbox: TestFlight, App Review and testers' accounts. Nobody paid.
    case sandbox
    /// A receipt that Xcode signed on a developer's machine.
    case xcode
    /// An environment that is not Apple's, by its own name.
    case other(String)

    /// The environment of a name, as Apple writes it (`Production`, `Sandbox`, `Xcode`); any other name stands for itself.
    public init(_ name: String) {
        switch name {
        case "Production": self = .production
        case "Sandbox": self = .sandbox
        case "Xcode": self = .xcode
        default: self = .other(name)
        }
    }

    /// The environment of a `receipt_type` (attribute 0 of an app receipt; Apple, "responseBody.Receipt").
    public init(receiptType: String) {
        switch receiptType {
        case "Production", "ProductionVPP": self = .production
        case "ProductionSandbox", "ProductionVPPSandbox": self = .sandbox
        case "Xcode": self = .xcode
        default: self = .other(receiptType)
        }
    }

    /// The name as Apple writes it.
    public var name: String {
        switch self {
        case .production: "Production"
        case .sandbox: "Sandbox"
        case .xcode: "Xcode"
        case .other(let name): name
        }
    }
}
