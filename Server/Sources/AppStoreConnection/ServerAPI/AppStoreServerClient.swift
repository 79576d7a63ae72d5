import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOHTTP1
public import PurchaseVerification
import Synchronization

/// The client of the App Store Server API.
///
/// It asks production first and then, by Apple's numbers, the sandbox. It keeps Apple's limits, retries temporary
/// failures, stops asking an environment that does not answer (`CircuitBreaker`), and verifies every signed answer
/// before it is returned: Apple's signature, the app, the environment, that it is about what was asked, and that it was
/// signed for this answer.
///
/// ```swift
/// let client = try AppStoreServerClient()
/// let app = AppStoreServerApp("game", bundleID: "com.example.game", keys: [key])
/// let answer = try await client.call(GetTransaction("2000000123456789"), for: app)
/// print(answer.environment, answer.value.content.productID)
/// ```
public final class AppStoreServerClient: AppStoreServer {
    /// The largest reply, in bytes: a page of Apple's has 20 entries of some kilobytes each. Reading JSON takes up to
    /// 14 times its size in memory.
    static let largestReply = 2 << 20

    private let settings: AppStoreServerSettings
    private let exchange: HTTPExchange
    private let clock: ConnectionClock
    private let time: @Sendable () -> Date
    private let storeTime: @Sendable () -> AppStoreTime
    private let tokens: ServerTokens
    /// This machine's clock against Apple's.
    public let skew: ClockSkew
    private let limit: CallLimit
    private let pace: ServerCallPace
    private let state = Mutex(State())
    private let onCircuitChange: @Sendable (ValidationEnvironment, CircuitBreaker.Change) -> Void

    private struct State {
        var breakers: [ValidationEnvironment: CircuitBreaker] = [:]
        /// The key that Apple accepted last, by the app's bundle id.
        var acceptedKeys: [String: String] = [:]
    }

    /// - Parameters:
    ///   - settings: the addresses and the trusted authorities.
    ///   - limits: the time limits of the parts of an attempt.
    ///   - clock: the clock of pauses and circuit breakers.
    ///   - time: the clock of tokens and of Apple's pauses.
    ///   - storeTime: the clock by which signed answers are fresh; `nil` for `time`.
    ///   - skew: compares `time` with Apple's clock; `nil` for one of its own.
    ///   - onCircuitChange: called when the circuit of an environment opens or closes, on the task of a call. It must
    ///     not wait.
    /// - Throws: `AppStoreConnectionSettingsError` if the trusted authorities cannot be read.
    public init(
        _ settings: AppStoreServerSettings = .apple, limits: AttemptLimits = AttemptLimits(),
        clock: ConnectionClock = .system, time: @escaping @Sendable () -> Date = { Date() },
        storeTime: (@Sendable () -> AppStoreTime)? = nil, skew: ClockSkew? = nil,
        onCircuitChange: @escaping @Sendable (ValidationEnvironment, CircuitBreaker.Change) -> Void = { _, _ in }
    ) throws(AppStoreConnectionSettingsError) {
        self.settings = settings
        self.skew = skew ?? ClockSkew(time: time)
        exchange = try HTTPExchange(
            trustFile: settings.trustFile, limits: limits, largestReply: Self.largestReply, skew: self.skew)
        self.clock = clock
        self.time = time
        self.storeTime = storeTime ?? { AppStoreTime(time()) }
        tokens = ServerTokens(time: time)
        limit = CallLimit(callsPerApp: settings.callsPerApp)
        pace = ServerCallPace(factor: settings.limitFactor)
        self.onCircuitChange = onCircuitChange
    }

    public func call<Operation: AppStoreServerOperation>(
        _ operation: Operation, for app: AppStoreServerApp, in environment: ValidationEnvironment?
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer> {
        switch place(of: operation) {
        case .only(let place):
            guard environment == nil || environment == place else {
                throw AppStoreServerError(
                    .notConfigured, place.other, seen: "only \(place.rawValue) has this operation",
                    retryAfter: ServerCallPace.longestPause)
            }
            return try await ask(operation, app, place)
        case .anyEnvironment: return try await ask(operation, app, environment ?? .production)
        case .environmentOfID, .ofGroups:
            if let environment { return try await ask(operation, app, environment) }
            do throws(AppStoreServerError) {
                return try await ask(operation, app, .production)
            } catch {
                guard error.mayBeOfOtherEnvironment else { throw error }
            }
            return try await ask(operation, app, .sandbox)
        }
    }

    private func place(of operation: some AppStoreServerOperation) -> AppStoreServerPlace {
        let place = operation.terms.place
        guard place == .ofGroups, settings.groupEnvironments.count < 2 else { return place }
        return .only(settings.groupEnvironments.first ?? .sandbox)
    }

    public func circuit(of environment: ValidationEnvironment) -> CircuitState {
        state.withLock { $0.breakers[environment, default: CircuitBreaker()].circuit(at: clock.now()) }
    }

    public func spacing<Operation: AppStoreServerOperation>(
        of operation: Operation.Type, in environment: ValidationEnvironment
    ) -> Duration {
        pace.spacing(Operation.callsPerSecond, environment)
    }

    /// Closes the connections, and ends the calls in progress. Call it once, at the end.
    public func shutdown() async throws { try await exchange.shutdown() }
}

// MARK: One question

extension AppStoreServerClient {
    /// Asks one environment, with one key after another until Apple accepts one.
    private func ask<Operation: AppStoreServerOperation>(
        _ operation: Operation, _ app: AppStoreServerApp, _ environment: ValidationEnvironment
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer> {
        var refusal = AppStoreServerError(
            .notConfigured, environment, seen: "the app \(app.name) has no key of the App Store Server API",
            retryAfter: ServerCallPace.longestPause)
        for key in keys(of: app) {
            do throws(AppStoreServerError) {
                let reply = try await attempts(operation, app, key, environment)
                state.withLock { $0.acceptedKeys[app.bundleID] = key.keyID }
                return reply
            } catch {
                guard error.code == .unauthorized else { throw error }
                refusal = error
            }
        }
        throw refusal
    }

    /// The keys of an app, the one that Apple accepted last first.
    private func keys(of app: AppStoreServerApp) -> [AppStoreServerKey] {
        let accepted = state.withLock { $0.acceptedKeys[app.bundleID] }
        return app.keys.filter { $0.keyID == accepted } + app.keys.filter { $0.keyID != accepted }
    }

    /// Asks until there is an answer, or the schedule ends.
    private func attempts<Operation: AppStoreServerOperation>(
        _ operation: Operation, _ app: AppStoreServerApp, _ key: AppStoreServerKey,
        _ environment: ValidationEnvironment
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer> {
        var failures = 0
        while true {
            do throws(AppStoreServerError) {
                return try await attempt(operation, app, key, environment)
            } catch {
                failures += 1
                guard operation.terms.isRepeatable, error.isPassing,
                    let pause = RetryPauses.pause(after: failures, .passing, random: clock.random())
                else { throw error }
                try await sleep(pause, environment)
            }
        }
    }

    private func sleep(_ pause: Duration, _ environment: ValidationEnvironment) async throws(AppStoreServerError) {
        do {
            try await clock.sleep(pause)
        } catch {
            throw AppStoreServerError(.cancelled, environment, seen: "the call was cancelled")
        }
    }

    /// Makes one attempt, in its turn, if the circuit is closed.
    private func attempt<Operation: AppStoreServerOperation>(
        _ operation: Operation, _ app: AppStoreServerApp, _ key: AppStoreServerKey,
        _ environment: ValidationEnvironment
    ) async throws(AppStoreServerError) -> AppStoreServerAnswer<Operation.Answer> {
        let place = ServerCallPace.Key(
            app: app.bundleID, operation: operation.terms.name, environment: environment)
        let request = try httpRequest(operation.request, app, key, environment)
        guard await limit.enter(app.name) else {
            throw AppStoreServerError(
                .busy, environment, seen: "\(CallLimit.waitingPerApp) other calls of the app wait")
        }
        let result: Result<HTTPExchange.Reply, AppStoreServerError>
        do throws(AppStoreServerError) {
            try await waitForTurn(place, operation.terms.callsPerSecond)
            result = .success(try await send(request, environment))
        } catch {
            result = .failure(error)
        }
        await limit.leave(app.name)
        let reply = try result.get()
        guard reply.isSuccess else { throw refusal(reply, place) }
        let answer = AppStoreServerReply(
            environment: environment, app: app, body: reply.body, receivedAt: storeTime(),
            freshness: Int64(settings.freshness / .milliseconds(1)))
        do throws(AppStoreServerReplyFault) {
            return AppStoreServerAnswer(
                environment: environment, value: try operation.read(answer), body: reply.body)
        } catch {
            throw AppStoreServerError(error, environment, httpStatus: reply.status)
        }
    }

    private func waitForTurn(
        _ place: ServerCallPace.Key, _ callsPerSecond: Double
    ) async throws(AppStoreServerError) {
        let spacing = pace.spacing(callsPerSecond, place.environment)
        switch pace.turn(place, spacing: spacing, at: clock.now()) {
        case .after(.zero): return
        case .after(let pause): try await sleep(pause, place.environment)
        case .refused(let retryAfter, true):
            throw AppStoreServerError(
                .rateLimited, place.environment, seen: "Apple asked for a pause", retryAfter: retryAfter)
        case .refused(let retryAfter, false):
            throw AppStoreServerError(
                .busy, place.environment, seen: "other calls of the app wait for Apple's limit",
                retryAfter: retryAfter)
        }
    }

    /// Sends the request, unless the circuit is open.
    private func send(
        _ request: HTTPClientRequest, _ environment: ValidationEnvironment
    ) async throws(AppStoreServerError) -> HTTPExchange.Reply {
        let permit = state.withLock {
            $0.breakers[environment, default: CircuitBreaker()].permit(at: clock.now())
        }
        if case .refused(let retryAfter) = permit {
            throw AppStoreServerError(
                .circuitOpen, environment, seen: "the last calls had no answer", retryAfter: retryAfter)
        }
        let result = await exchange.send(request)
        report(permit, result, environment)
        switch result {
        case .success(let reply): return reply
        case .failure(let failure):
            throw AppStoreServerError(.init(failure.code), environment, seen: failure.words)
        }
    }

    private func report(
        _ permit: CircuitBreaker.Permit, _ result: Result<HTTPExchange.Reply, HTTPExchange.Failure>,
        _ environment: ValidationEnvironment
    ) {
        let change = state.withLock { state -> CircuitBreaker.Change? in
            let now = clock.now()
            var breaker = state.breakers[environment, default: CircuitBreaker()]
            defer { state.breakers[environment] = breaker }
            let isAnswered: Bool
            switch result {
            case .failure(let failure) where failure.code == .cancelled:
                breaker.giveBack(permit, at: now)
                return nil
            case .failure: isAnswered = false
            // What concerns one app or one call is an answer.
            case .success(let reply): isAnswered = reply.status < 500
            }
            return breaker.report(permit, isAnswered: isAnswered, at: now, random: clock.random())
        }
        if let change { onCircuitChange(environment, change) }
    }
}

// MARK: Requests and refusals

extension AppStoreServerClient {
    private func httpRequest(
        _ request: AppStoreServerRequest, _ app: AppStoreServerApp, _ key: AppStoreServerKey,
        _ environment: ValidationEnvironment
    ) throws(AppStoreServerError) -> HTTPClientRequest {
        let token: String
        do {
            token = try tokens.token(of: key, for: app.bundleID)
        } catch {
            throw AppStoreServerError(.notConfigured, environment, seen: "the \(key) cannot sign")
        }
        var base = settings.url(of: environment).absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        var sent = HTTPClientRequest(url: base + request.target)
        sent.method = HTTPMethod(rawValue: request.method.rawValue)
        sent.headers = [
            "authorization": "Bearer \(token)", "accept": "application/json", "accept-encoding": "gzip",
            "user-agent": "assay",
        ]
        if let body = request.body {
            sent.headers.add(name: "content-type", value: body.contentType)
            sent.body = .bytes(ByteBuffer(bytes: body.bytes))
        }
        return sent
    }

    /// Apple's error (Apple, "Error codes"), or the errors of a report ("SendReportErrorResponse").
    private struct Refusal: Decodable {
        let errorCode: Int64?
        let errorMessage: String?
        let fieldName: String?
        let lineItemId: String?
        let errors: [Refusal]?

        var words: String? {
            let parts = [errorMessage, fieldName, lineItemId].compactMap(\.self).joined(separator: ", ")
            let words = [parts] + (errors ?? []).map { "\($0.errorCode ?? 0): \($0.words ?? "")" }
            return words.allSatisfy(\.isEmpty) ? nil : words.filter { !$0.isEmpty }.joined(separator: "; ")
        }
    }

    private func refusal(_ reply: HTTPExchange.Reply, _ place: ServerCallPace.Key) -> AppStoreServerError {
        let body = try? JSONDecoder().decode(Refusal.self, from: Data(reply.body))
        let number = (body?.errorCode ?? body?.errors?.first?.errorCode).map { AppStoreErrorNumber(rawValue: $0) }
        var seen = "HTTP status \(reply.status)" + (body?.words.map { ", \($0)" } ?? "")
        // A clock that is ahead is refused as a wrong key is.
        if reply.status == 401, let excess = skew.excess { seen += "; \(excess)" }
        func error(_ code: AppStoreServerError.Code, _ retryAfter: Duration = .seconds(5)) -> AppStoreServerError {
            AppStoreServerError(
                code, place.environment, seen: seen, number: number, httpStatus: reply.status, retryAfter: retryAfter)
        }
        switch reply.status {
        case 401: return error(.unauthorized)
        case 429:
            return error(.rateLimited, pace.pause(place, for: requestedPause(reply.headers), at: clock.now()))
        case 500...: return error(.unavailable)
        case 400...: break
        default: return error(.httpStatus)
        }
        guard let number else { return error(.httpStatus) }
        if number == .rateLimitExceeded { return error(.rateLimited, .seconds(60)) }
        var refused = error(number.isRetryable ? .unavailable : .refused)
        refused.flaws = (body?.errors ?? []).compactMap { one in
            guard let number = one.errorCode, let field = one.fieldName, let id = one.lineItemId else { return nil }
            return .init(number: AppStoreErrorNumber(rawValue: number), field: field, lineItemID: id)
        }
        return refused
    }

    /// The pause until the time in `Retry-After`, which is in UNIX milliseconds.
    private func requestedPause(_ headers: HTTPHeaders) -> Duration? {
        guard let text = headers.first(name: "retry-after"), text.utf8.count <= 20, let time = Int64(text) else {
            return nil
        }
        let pause = Double(time) / 1000 - self.time().timeIntervalSince1970
        return .seconds(min(max(pause, 0), 86_400))
    }
}

extension AppStoreServerError {
    /// Whether the other environment may know what was asked for: 401 comes also from production for an app that was
    /// never released.
    fileprivate var mayBeOfOtherEnvironment: Bool {
        code == .unauthorized || code == .refused && number.map { $0.isOfOtherEnvironment } ?? false
    }

    /// Whether the same call may succeed after a moment.
    fileprivate var isPassing: Bool {
        switch code {
        case .unreachable, .timeout, .certificate, .unreadable, .tooLarge, .unavailable: true
        case .refused, .unauthorized, .rateLimited, .unverified, .otherAnswer, .oldAnswer, .httpStatus, .circuitOpen,
            .busy,
            .notConfigured, .cancelled:
            false
        }
    }

    fileprivate init(_ fault: AppStoreServerReplyFault, _ environment: ValidationEnvironment, httpStatus: Int) {
        switch fault {
        case .unreadable(let words): self.init(.unreadable, environment, seen: words, httpStatus: httpStatus)
        case .unverified(let error):
            self.init(
                .unverified, environment, seen: "\(error.code.rawValue)", httpStatus: httpStatus, verification: error)
        case .otherAnswer(let expected, let found):
            self.init(
                .otherAnswer, environment, seen: "expected \(expected), found \(found)", httpStatus: httpStatus)
        case .oldAnswer(let signedAt):
            self.init(
                .oldAnswer, environment, seen: "signed at \(signedAt.map { "\($0)" } ?? "an unknown time")",
                httpStatus: httpStatus)
        }
    }
}

extension AppStoreServerError.Code {
    fileprivate init(_ code: UndeterminedValidation.Code) {
        self =
            switch code {
            case .unreachable: .unreachable
            case .timeout: .timeout
            case .certificate: .certificate
            case .httpStatus: .httpStatus
            case .unreadable: .unreadable
            case .tooLarge: .tooLarge
            case .status: .unavailable
            case .circuitOpen: .circuitOpen
            case .busy: .busy
            case .cancelled: .cancelled
            }
    }
}
