import EvidenceMint
import Foundation

/// An app in an environment, as a token and a host name select it.
struct ServerAPIScope: Sendable {
    let app: StoreApp
    let environment: StoreEnvironment

    /// The name of the environment in answers.
    var environmentName: String { app.environmentNames.name(of: environment) }
    /// The number of the app; nil in the sandbox.
    var appAppleID: Int64? { environment == .production ? Int64(clamping: app.appID) : nil }
    /// The key of content per app and environment.
    var key: String { "\(app.bundleID)|\(environment.rawValue)" }

    /// `environment`, `bundleId` and, in production, `appAppleId`.
    var claims: [Claim] {
        var claims = [Claim("environment", .string(environmentName)), Claim("bundleId", .string(app.bundleID))]
        if let appAppleID { claims.append(Claim("appAppleId", .integer(appAppleID))) }
        return claims
    }
}
