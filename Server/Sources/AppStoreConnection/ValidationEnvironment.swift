/// The two environments of the App Store, each with addresses of its own.
public enum ValidationEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"

    public var other: ValidationEnvironment { self == .production ? .sandbox : .production }
}
