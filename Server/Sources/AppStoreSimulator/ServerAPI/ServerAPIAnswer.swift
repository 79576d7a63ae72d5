import EvidenceMint
import Foundation

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

    /// An error.
    init(_ failure: ServerAPIFailure) {
        status = failure.status
        guard failure.hasBody else { return }
        var members = [Claim("errorMessage", .string(failure.message))]
        if let code = failure.code { members.insert(Claim("errorCode", .integer(code)), at: 0) }
        json = .object(members)
    }
}
