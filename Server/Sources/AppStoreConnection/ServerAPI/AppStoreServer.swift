public import Foundation
public import PurchaseVerification

/// Calls the App Store Server API.
public protocol AppStoreServer: Sendable {
    /// Makes a call.
    ///
    /// - Parameters:
    ///   - operation: what to call.
    ///   - app: on whose behalf.
    ///   - environment: the environment to ask; `nil` to ask production first and then, if it does not know the
    ///     identifier or the app, the sandbox.
    /// - Throws: `AppStoreServerError`.
    func call<Operation: AppStoreServerOperation>(
        _ operation: Operation, for app: AppStoreServerApp, in environment: ValidationEnvironment?
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer>

    /// The state of the circuit breaker of an environment.
    func circuit(of environment: ValidationEnvironment) -> CircuitState

    /// The shortest time between two calls of an operation, by Apple's limits.
    func spacing<Operation: AppStoreServerOperation>(
        of operation: Operation.Type, in environment: ValidationEnvironment
    ) -> Duration
}

extension AppStoreServer {
    /// Makes a call in production and then, if it does not know the identifier or the app, in the sandbox.
    public func call<Operation: AppStoreServerOperation>(
        _ operation: Operation, for app: AppStoreServerApp
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer> {
        try await call(operation, for: app, in: nil)
    }
}

/// An app on whose behalf the App Store Server API is called.
public struct AppStoreServerApp: Sendable {
    /// The key by which calls in progress are limited. It is not sent.
    public var name: String
    /// The app that the token names, and that every answer must be about.
    public var bundleID: String
    /// The keys, the preferred one first. After 401 the next is used, so a key can be replaced without an outage.
    public var keys: [AppStoreServerKey]
    /// Verifies what the App Store signed.
    public var verifier: PurchaseVerifier

    public init(
        _ name: String, bundleID: String, keys: [AppStoreServerKey], verifier: PurchaseVerifier = PurchaseVerifier()
    ) {
        self.name = name
        self.bundleID = bundleID
        self.keys = keys
        self.verifier = verifier
    }
}

/// The answer to an operation.
public struct AppStoreServerAnswer<Value: Sendable>: Sendable {
    /// The environment that answered.
    public let environment: ValidationEnvironment
    /// The answer, read and verified.
    public let value: Value
    /// The answer as received.
    public let body: [UInt8]

    public init(environment: ValidationEnvironment, value: Value, body: [UInt8]) {
        self.environment = environment
        self.value = value
        self.body = body
    }
}

/// Data that Apple signed, verified, with its text. Only an answer of the App Store Server API creates one.
public struct VerifiedJWS<Content: Sendable>: Sendable {
    /// The compact JWS, as Apple sent it: evidence that can be verified again.
    public let text: String
    public let content: Content

    init(_ text: String, _ content: Content) {
        self.text = text
        self.content = content
    }
}

/// A transaction that Apple signed.
public typealias TransactionJWS = VerifiedJWS<SignedTransaction>
/// Renewal info that Apple signed.
public typealias RenewalInfoJWS = VerifiedJWS<SignedRenewalInfo>

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
