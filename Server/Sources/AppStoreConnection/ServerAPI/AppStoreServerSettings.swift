public import Foundation

/// How the App Store Server API is reached.
public struct AppStoreServerSettings: Sendable, Equatable {
    /// The address of production, without a path.
    public var production: URL
    /// The address of the sandbox, without a path.
    public var sandbox: URL
    /// A PEM file with the certificate authorities to trust instead of the system's; for tests and the simulator.
    public var trustFile: String?
    /// By how much Apple's limits are multiplied: below 1 for a server that shares its limits with others, above 1 only
    /// for a simulator whose limits were raised.
    public var limitFactor = 1.0
    /// The calls of one app in progress. More are needed to use Apple's limits up if an answer takes long: 32 calls of
    /// 600 ms are 53 in a second.
    public var callsPerApp = CallLimit.callsPerApp
    /// Where Apple has the calls of groups and seats. Apple's pages name the sandbox only.
    public var groupEnvironments: Set<ValidationEnvironment> = [.sandbox]
    /// How long ago Apple may have signed the data in an answer. Apple signs the data of each answer anew; older data
    /// was recorded and is sent again by somebody else. Clocks may differ by as much.
    public var freshness = Duration.seconds(3600)

    /// Apple's addresses and the system's authorities.
    public static let apple = AppStoreServerSettings(
        constantProduction: "https://api.storekit.apple.com", sandbox: "https://api.storekit-sandbox.apple.com")

    private init(constantProduction production: StaticString, sandbox: StaticString) {
        // Both are constants of this file, and a test reads them.
        self.production = URL(string: "\(production)") ?? URL(fileURLWithPath: "/")
        self.sandbox = URL(string: "\(sandbox)") ?? URL(fileURLWithPath: "/")
    }

    /// Other addresses.
    ///
    /// - Parameters:
    ///   - production: `https://…`; `http://…` only with a loopback address.
    ///   - sandbox: in the same form.
    ///   - trustFile: a PEM file with authorities; `nil` to trust the system's.
    /// - Throws: `AppStoreConnectionSettingsError`.
    public init(production: String, sandbox: String, trustFile: String? = nil) throws(AppStoreConnectionSettingsError) {
        self.production = try AppStoreConnectionSettings.url(production)
        self.sandbox = try AppStoreConnectionSettings.url(sandbox)
        self.trustFile = trustFile
    }

    func url(of environment: ValidationEnvironment) -> URL {
        environment == .production ? production : sandbox
    }
}
