/// The environment of a purchase.
public enum AppStoreEnvironment: Sendable {
    /// The App Store: the customer paid.
    case production
    /// Apple's sandbox: TestFlight, App Review and testers' accounts. The customer did not pay.
    case sandbox
    /// A receipt that Xcode signed on a developer's machine.
    case xcode
    /// An environment that is not Apple's, by its own name.
    case other(String)

    /// The environment with a name of Apple's (`Production`, `Sandbox`, `Xcode`); any other name is kept.
    public init(_ name: String) {
        self =
            if name.isSame(as: "Production") {
                .production
            } else if name.isSame(as: "Sandbox") {
                .sandbox
            } else if name.isSame(as: "Xcode") {
                .xcode
            } else {
                .other(name)
            }
    }

    /// The environment of a `receipt_type` (attribute 0 of an app receipt; Apple, "responseBody.Receipt").
    public init(receiptType: String) {
        self =
            if receiptType.isSame(as: "Production") || receiptType.isSame(as: "ProductionVPP") {
                .production
            } else if receiptType.isSame(as: "ProductionSandbox") || receiptType.isSame(as: "ProductionVPPSandbox") {
                .sandbox
            } else if receiptType.isSame(as: "Xcode") {
                .xcode
            } else {
                .other(receiptType)
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

extension AppStoreEnvironment: Hashable {
    /// Compares names byte by byte: they come from outside, and `String` takes quadratic time for some of them.
    public static func == (left: AppStoreEnvironment, right: AppStoreEnvironment) -> Bool {
        switch (left, right) {
        case (.production, .production), (.sandbox, .sandbox), (.xcode, .xcode): true
        case (.other(let left), .other(let right)): left.isSame(as: right)
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .production: hasher.combine(0)
        case .sandbox: hasher.combine(1)
        case .xcode: hasher.combine(2)
        case .other(let name):
            hasher.combine(3)
            for byte in name.utf8 { hasher.combine(byte) }
        }
    }
}
