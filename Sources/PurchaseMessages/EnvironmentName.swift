/// The environment of the App Store in which something was bought. Simulators have environments of other names.
public struct EnvironmentName: WireEnumeration {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let production = EnvironmentName(rawValue: "Production")
    public static let sandbox = EnvironmentName(rawValue: "Sandbox")
}
