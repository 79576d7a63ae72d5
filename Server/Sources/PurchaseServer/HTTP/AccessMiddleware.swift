import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PurchaseLedger

/// Admits requests with a known key, within the limits of their rate. The address is counted first, so that guessing keys is
/// limited, too, and then the key.
struct AccessMiddleware: RouterMiddleware {
    let ledger: PurchaseLedger
    let apps: [String: RegisteredApp]
    let addresses: RateLimiter
    let keys: RateLimiter

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        try addresses.require(AddressRange.limited(context.remoteAddress), "this address")
        let key = try await key(request)
        try keys.require(Array(key.id.utf8), "this key")
        guard let app = apps[key.app] else {
            throw Problem(
                .forbidden, "app_unknown", "The app of the key is not in the configuration.", found: key.app)
        }
        var context = context
        context.caller = Caller(key: key, app: app)
        context.logger[metadataKey: "key"] = "\(key.id)"
        return try await next(request, context)
    }

    private func key(_ request: Request) async throws -> APIKey {
        guard let field = request.headers[.authorization] else {
            throw Problem(.unauthorized, "key_missing", "Send a key: Authorization: Bearer KEY.")
        }
        // As bytes throughout: nothing that nobody vouches for is compared as text.
        let parts = field.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, parts[0].isEqual(ignoringCase: "bearer") else {
            throw Problem(
                .unauthorized, "key_missing", "The header Authorization must be the word Bearer, a space and the key.",
                expected: "Bearer KEY", found: parts.count == 2 ? "another scheme" : "one word")
        }
        guard parts[1].count <= APIKeyText.largestBytes,
            let sent = APIKeyText(Substring(parts[1]).trimmingCharacters(in: .whitespaces)),
            let key = try await ledger.answer(APIKeyLookup(sent))
        else { throw Problem(.unauthorized, "key_unknown", "The key is unknown or was revoked.") }
        return key
    }
}

extension RateLimiter {
    /// Takes a token now.
    ///
    /// - Throws: 429 if there is none.
    func require(_ name: [UInt8], _ whose: String) throws {
        guard let wait = take(name) else { return }
        throw Problem(
            .tooManyRequests, "rate_limited", "Too many requests come from \(whose).",
            retryAfter: Self.retryAfter(wait))
    }
    /// Whole seconds for `Retry-After`.
    static func retryAfter(_ wait: Double) -> Int { max(1, Int(min(wait, 3600).rounded(.up))) }
}
