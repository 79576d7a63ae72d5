import EvidenceMint
import Foundation

/// A request to the App Store Server API, read from HTTP.
struct ServerAPIRequest: Sendable {
    let operation: ServerAPIOperation
    let environment: StoreEnvironment
    /// The header `Authorization`.
    let authorization: String?
    /// The variable parts of the path, in order.
    var path: [String]
    /// The query, with repeated keys.
    let query: [(name: String, value: String)]
    let contentType: String?
    let body: [UInt8]

    /// The values of a key of the query.
    func values(_ name: String) -> [String] {
        query.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value)
    }

    /// The only value of a key; the last one if it is repeated.
    func value(_ name: String) -> String? { values(name).last }

    /// The JSON object of the body.
    /// - Throws: 4000000 for anything else.
    func object() throws -> APIObject {
        guard contentType?.split(separator: ";").first.map({ $0.lowercased() == "application/json" }) == true,
            let object = APIObject(body)
        else { throw ServerAPIFailure.generalBadRequest }
        return object
    }
}

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

/// An answer of the App Store Server API, before the faults of the transport.
struct ServerAPIAnswer: Sendable {
    var status: Int
    /// The JSON of the answer; nil for none.
    var json: ClaimValue?
    /// When a request may be sent again, in milliseconds since 1970: Apple's `Retry-After` is no number of seconds.
    var retryAfter: Int64?
    /// Why the token was refused. The body has no JSON then.
    var tokenFault: ServerAPITokenFault?
    /// The fault that the answer gets on its way.
    var fault: ServerAPIFault?

    /// An answer with JSON.
    init(_ members: [Claim], status: Int = 200) {
        self.status = status
        json = .object(members)
    }

    /// An answer without a body.
    init(status: Int) {
        self.status = status
    }

    /// A refusal of the token.
    init(_ fault: ServerAPITokenFault) {
        status = 401
        tokenFault = fault
    }

    init(_ failure: ServerAPIFailure) {
        status = failure.status
        guard failure.hasBody else { return }
        var members = [Claim("errorMessage", .string(failure.message))]
        if let code = failure.code { members.insert(Claim("errorCode", .integer(code)), at: 0) }
        json = .object(members)
    }
}
