import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PurchaseLedger
import PurchaseVerification

/// Admits requests with a known key, within the limits of their rate. The address is counted first, so that guessing
/// keys is limited, too, then the parts of the key that the address and its network may take, and then the key.
///
/// A request that is refused before any evidence in it was read costs only its address: the key gets its token back.
struct AccessMiddleware: RouterMiddleware {
    let keys: KeyCache
    let apps: [String: RegisteredApp]
    let limits: AccessLimits
    let uses: KeyUses
    /// Addresses that carry the requests of many clients: the whole rate of a key is theirs.
    let uncountedAddresses: [AddressRange]
    /// The seconds after which an app that moved may be asked for again: its clients wait for other settings.
    static let retryOfMoved = 60

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let address = context.limitedAddress
        try limits.addresses.require(address, "this address", "limits.per_address")
        let sent = try Self.sentKey(request)
        let key = try await valid(sent)
        context.facts.note(app: key.app, key: key.id)
        uses.note(key.id)
        let id = Array(key.id.utf8)
        let isShared = key.isOfDevices && !isUncounted(context)
        let (share, networkShare) = (id + address, id + context.limitedNetwork)
        for (limiter, name, whose, setting) in limits.parts(id, share, networkShare, isShared: isShared) {
            try limiter.require(name, whose, setting)
        }
        if let place = key.movedTo {
            throw Problem(
                .serviceUnavailable, LedgerStorageError.Kind.appMoved.rawValue,
                LedgerStorageError.Kind.appMoved.sentence, found: place, retryAfter: Self.retryOfMoved)
        }
        guard let app = apps[key.app] else {
            throw Problem(
                .forbidden, "app_unknown", "The app of the key is not in the configuration.", found: key.app)
        }
        var context = context
        let isValid: @Sendable () async throws -> Bool = { [keys] in
            try await keys.key(sent).map { $0.movedTo == nil } ?? false
        }
        context.caller = Caller(key: key, app: app, isValid: isValid) { [limits] tokens throws(Problem) in
            var taken: [(limiter: RateLimiter, name: [UInt8])] = []
            do throws(Problem) {
                for (limiter, name, whose, setting) in limits.parts(id, share, networkShare, isShared: isShared) {
                    try limiter.requireMore(name, tokens: Double(tokens), whose, setting)
                    taken.append((limiter, name))
                }
            } catch {
                for (limiter, name) in taken { limiter.giveBack(name, tokens: Double(tokens)) }
                throw error
            }
        }
        context.logger[metadataKey: "key"] = "\(key.id)"
        do {
            let response = try await next(request, context)
            limits.addresses.charge(address, rejections: context.facts.values.rejectedVerifications)
            if response.status.kind == .clientError { giveBack(id, context) }
            return response
        } catch {
            limits.addresses.charge(address, rejections: context.facts.values.rejectedVerifications)
            if Self.isOfSender(error) { giveBack(id, context) }
            throw error
        }
    }

    private func isUncounted(_ context: ServerContext) -> Bool {
        guard !context.isClientUnreadable, let address = context.clientAddress.flatMap(AddressRange.bytes) else {
            return false
        }
        return uncountedAddresses.contains { $0.contains(address) }
    }

    private func giveBack(_ id: [UInt8], _ context: ServerContext) {
        if !context.facts.values.isEvidenceRead { limits.keys.giveBack(id) }
    }

    /// Whether the error is one of the request.
    private static func isOfSender(_ error: any Error) -> Bool {
        switch error {
        case let problem as Problem: problem.status.kind == .clientError
        case let refusal as LedgerRefusal: HTTPResponse.Status(refusal.code).kind == .clientError
        case let fault as BodyFault: Problem(fault).status.kind == .clientError
        case let error as any HTTPResponseError: error.status.kind == .clientError
        default: false
        }
    }

    private func valid(_ sent: APIKeyText) async throws -> APIKey {
        guard let key = try await keys.key(sent) else { throw Self.unknownKey }
        return key
    }

    private static let unknownKey = Problem(.unauthorized, "key_unknown", "The key is unknown or was revoked.")

    private static func sentKey(_ request: Request) throws(Problem) -> APIKeyText {
        guard let field = request.headers[.authorization] else {
            throw Problem(.unauthorized, "key_missing", "Send a key: Authorization: Bearer KEY.")
        }
        // Compared as bytes: untrusted input is never compared as text.
        let parts = field.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, parts[0].isEqual(ignoringCase: "bearer") else {
            throw Problem(
                .unauthorized, "key_missing", "The header Authorization must be the word Bearer, a space and the key.",
                expected: "Bearer KEY", found: parts.count == 2 ? "another scheme" : "one word")
        }
        guard parts[1].count <= APIKeyText.largestBytes,
            let sent = APIKeyText(String(Substring(parts[1].trimmingSpace)))
        else { throw unknownKey }
        return sent
    }
}

extension RateLimiter {
    /// The tokens that one rejected verification takes in addition. An accepted one costs about 0.05 ms of a core,
    /// because its certificates are known; the most expensive rejected one costs about 2 ms (docs/threat-model.md).
    static let tokensOfRejection = 40.0

    /// Takes the tokens of rejected verifications.
    func charge(_ address: [UInt8], rejections: Int) {
        guard rejections > 0 else { return }
        charge(address, tokens: Self.tokensOfRejection * Double(rejections), isBounded: true)
    }

    /// Takes a token now.
    ///
    /// - Parameters:
    ///   - name: whose.
    ///   - whose: the same for people.
    ///   - setting: the setting of the limit; `nil` if it has none.
    /// - Throws: 429 if there is none.
    func require(_ name: [UInt8], _ whose: String, _ setting: String? = nil) throws(Problem) {
        if let wait = take(name) { throw problem(whose, setting, wait) }
    }

    /// Takes further tokens for a request that was admitted.
    ///
    /// - Throws: 429 if the name owes tokens.
    func requireMore(_ name: [UInt8], tokens: Double, _ whose: String, _ setting: String) throws(Problem) {
        if let wait = takeMore(name, tokens: tokens) { throw problem(whose, setting, wait) }
    }

    private func problem(_ whose: String, _ setting: String?, _ wait: Double) -> Problem {
        let limit = currentLimit
        return Problem(
            .tooManyRequests, "rate_limited",
            "Too many requests come from \(whose)\(setting.map { " (\($0))" } ?? "").",
            expected: "at most \(Self.number(limit.perSecond)) a second, and \(Self.number(limit.burst)) at once",
            retryAfter: Self.retryAfter(wait))
    }

    private static func number(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }

    /// Whole seconds for `Retry-After`.
    static func retryAfter(_ wait: Double) -> Int { max(1, Int(min(wait, 3600).rounded(.up))) }
}

extension ReasonCode {
    /// Whether evidence that is rejected with the code may have cost more than accepted evidence. Genuine evidence of
    /// another app or environment costs the same, and so does what Apple signed under an authority that had just ended.
    var isExpensive: Bool {
        switch conclusion {
        case .unread, .forged: self != .certificateJustExpired
        case .notAccepted: self == .issuerUnknown
        case .worthless: false
        }
    }
}

extension Substring.UTF8View {
    /// Without spaces and tabs at either end (RFC 9110, section 5.6.3).
    fileprivate var trimmingSpace: Substring.UTF8View {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let start = drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return start }
        return start[...last]
    }
}

/// A key, and the app that it belongs to.
struct Caller: Sendable {
    let key: APIKey
    let app: RegisteredApp
    /// Whether the key is still valid, for a request that goes on for long.
    let isValid: @Sendable () async throws -> Bool
    /// Takes further tokens of the rate of the key, and of the address's share of it, for a request that does the work
    /// of several; 429 if one of them owes tokens already.
    let charge: @Sendable (_ tokens: Int) throws(Problem) -> Void

    /// Whether the key is no client's: those are in every app.
    var isTrusted: Bool { key.scopes.contains { $0 != .client } }
}

/// The limits of requests to `/v1` in a time.
struct AccessLimits: Sendable {
    /// By address, for any key.
    let addresses: RateLimiter
    /// By address and key.
    let shares: RateLimiter
    /// By network and key.
    let networks: RateLimiter
    /// By key.
    let keys: RateLimiter

    init(_ limits: ServerConfiguration.Limits, uptime: @escaping @Sendable () -> Double) {
        addresses = RateLimiter(limits.perAddress, uptime: uptime)
        shares = RateLimiter(limits.perAddressOfKey, uptime: uptime)
        networks = RateLimiter(limits.perNetworkOfKey, uptime: uptime)
        keys = RateLimiter(limits.perKey, uptime: uptime)
    }

    private static let appKey = "a key of apps, which others share; a backend has a key of the scope backend"

    /// The limits that a request with a key takes tokens of, each with its name for people and its setting.
    func parts(
        _ id: [UInt8], _ share: [UInt8], _ network: [UInt8], isShared: Bool
    ) -> [(limiter: RateLimiter, name: [UInt8], whose: String, setting: String)] {
        let ofKey = (limiter: keys, name: id, whose: "this key", setting: "limits.per_key")
        guard isShared else { return [ofKey] }
        return [
            (shares, share, "this address with \(Self.appKey)", "limits.per_key.address_percent"),
            (networks, network, "this network with \(Self.appKey)", "limits.per_key.network_percent"),
            ofKey,
        ]
    }

    /// Changes the limits and keeps the counts.
    func limit(to limits: ServerConfiguration.Limits) {
        addresses.limit(to: limits.perAddress)
        shares.limit(to: limits.perAddressOfKey)
        networks.limit(to: limits.perNetworkOfKey)
        keys.limit(to: limits.perKey)
    }
}
