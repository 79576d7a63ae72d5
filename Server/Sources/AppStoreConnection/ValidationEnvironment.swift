/// The two addresses of `verifyReceipt`.
public enum ValidationEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"

    public var other: ValidationEnvironment { self == .production ? .sandbox : .production }
}
