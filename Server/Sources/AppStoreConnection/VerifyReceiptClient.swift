import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import PurchaseAPI
import Synchronization

/// The client of `verifyReceipt`.
///
/// It asks production first; after 21007 it asks the sandbox. It retries temporary failures, stops asking an
/// environment that does not answer (`CircuitBreaker`), limits the calls of each app (`CallLimit`), and makes one call
/// for identical receipts.
public final class VerifyReceiptClient: ReceiptValidation {
    private let exchange: VerifyReceiptExchange
    private let clock: ConnectionClock
    private let limit = CallLimit()
    private let state = Mutex(State())
    private let onCircuitChange: @Sendable (ValidationEnvironment, CircuitBreaker.Change) -> Void

    private struct State {
        var breakers: [ValidationEnvironment: CircuitBreaker] = [:]
        var calls: [Key: Task<ReceiptValidationOutcome, Never>] = [:]
        var isClosed = false
    }

    /// The fields by which two questions are the same.
    private struct Key: Hashable {
        let digest: [UInt8]
        let app: String
        let autoRenewables: ReceiptValidationRequest.AutoRenewables
        let excludesOldTransactions: Bool
        let sharedSecret: SharedSecret?
    }

    /// - Parameters:
    ///   - settings: the addresses and the trusted authorities.
    ///   - limits: the time limits of the parts of an attempt.
    ///   - clock: the clock of pauses and circuit breakers.
    ///   - skew: compares this machine's clock with Apple's.
    ///   - onCircuitChange: called when the circuit of an environment opens or closes, on the task of a call. It must
    ///     not wait.
    /// - Throws: `AppStoreConnectionSettingsError` if the trusted authorities cannot be read.
    public init(
        _ settings: AppStoreConnectionSettings = .apple, limits: AttemptLimits = AttemptLimits(),
        clock: ConnectionClock = .system, skew: ClockSkew = ClockSkew(),
        onCircuitChange: @escaping @Sendable (ValidationEnvironment, CircuitBreaker.Change) -> Void = { _, _ in }
    ) throws(AppStoreConnectionSettingsError) {
        exchange = try VerifyReceiptExchange(settings, limits: limits, skew: skew)
        self.clock = clock
        self.onCircuitChange = onCircuitChange
    }

    public func validate(_ request: ReceiptValidationRequest) async -> ReceiptValidationOutcome {
        let key = Key(
            digest: Array(SHA256.hash(data: request.receipt)), app: request.app, autoRenewables: request.autoRenewables,
            excludesOldTransactions: request.excludesOldTransactions, sharedSecret: request.sharedSecret)
        let call = state.withLock { state -> Task<ReceiptValidationOutcome, Never>? in
            guard !state.isClosed else { return nil }
            if let call = state.calls[key] { return call }
            // A separate task, because the caller that began it may be cancelled while others wait for it.
            let call = Task {
                let outcome = await ask(request)
                self.state.withLock { $0.calls[key] = nil }
                return outcome
            }
            state.calls[key] = call
            return call
        }
        return await call?.value ?? .undetermined(Self.cancelled)
    }

    public func circuit(of environment: ValidationEnvironment) -> CircuitState {
        state.withLock { $0.breakers[environment, default: CircuitBreaker()].circuit(at: clock.now()) }
    }

    /// Cancels the calls and closes the connections. Call it once, at the end.
    public func shutdown() async throws {
        let calls = state.withLock { state in
            state.isClosed = true
            return Array(state.calls.values)
        }
        for call in calls { call.cancel() }
        for call in calls { _ = await call.value }
        try await exchange.shutdown()
    }

    private static let cancelled = UndeterminedValidation(
        .cancelled, .production, seen: "the client is being closed", retryAfter: UndeterminedValidation.usualRetry)
}

// MARK: One question

extension VerifyReceiptClient {
    /// Asks production, and the sandbox if production says so.
    private func ask(_ request: ReceiptValidationRequest) async -> ReceiptValidationOutcome {
        let first = await ask(request, .production, isSwitched: false)
        guard case .otherEnvironment = first else { return first.outcome(.production) }
        return await ask(request, .sandbox, isSwitched: true).outcome(.sandbox)
    }

    private enum Answer {
        case conclusive(VerifyReceiptExchange.Reply)
        case otherEnvironment
        case undetermined(UndeterminedValidation)

        func outcome(_ environment: ValidationEnvironment) -> ReceiptValidationOutcome {
            switch self {
            case .conclusive(let reply):
                .conclusive(AppStoreReply(environment: environment, json: reply.json, response: reply.response))
            case .undetermined(let reason): .undetermined(reason)
            case .otherEnvironment:
                .undetermined(
                    UndeterminedValidation(
                        .status, environment, seen: "both environments name the other one",
                        retryAfter: UndeterminedValidation.usualRetry))
            }
        }
    }

    /// Asks one environment, with the secret if the receipt may need it, and once without it if that was wrong.
    private func ask(
        _ request: ReceiptValidationRequest, _ environment: ValidationEnvironment, isSwitched: Bool
    ) async -> Answer {
        let secret = request.autoRenewables == .absent ? nil : request.sharedSecret
        let answer = await attempts(Self.body(request, secret), request.app, environment, isSwitched)
        guard secret != nil, request.autoRenewables == .unknown, case .conclusive(let reply) = answer,
            reply.response.status == .secretMismatch
        else { return answer }
        return await attempts(Self.body(request, nil), request.app, environment, isSwitched)
    }

    /// Asks until there is an answer, or the schedule ends.
    private func attempts(
        _ body: [UInt8], _ app: String, _ environment: ValidationEnvironment, _ isSwitched: Bool
    ) async -> Answer {
        var undetermined = 0
        while true {
            let attempt = await attempt(body, app, environment, isSwitched)
            switch attempt {
            case .conclusive(let reply): return .conclusive(reply)
            case .otherEnvironment: return .otherEnvironment
            case .undetermined(let reason, let persistence):
                undetermined += 1
                guard let pause = RetryPauses.pause(after: undetermined, persistence, random: clock.random()) else {
                    return .undetermined(reason)
                }
                do {
                    try await clock.sleep(pause)
                } catch {
                    return .undetermined(Self.cancelled)
                }
            }
        }
    }

    private enum Attempt {
        case conclusive(VerifyReceiptExchange.Reply)
        case otherEnvironment
        case undetermined(UndeterminedValidation, ReplyJudgement.Persistence)

        /// Whether the environment answered. A status that concerns the receipt and not the store is an answer too;
        /// otherwise one customer's receipt could open the circuit for all.
        var isAnswered: Bool {
            switch self {
            case .conclusive, .otherEnvironment: true
            case .undetermined(let reason, let persistence): reason.code == .status && persistence != .passing
            }
        }
    }

    /// Makes one attempt, in its turn, if the circuit is closed.
    private func attempt(
        _ body: [UInt8], _ app: String, _ environment: ValidationEnvironment, _ isSwitched: Bool
    ) async -> Attempt {
        guard await limit.enter(app) else {
            let words = "\(CallLimit.waitingPerApp) other calls of the app wait"
            return .undetermined(
                .init(.busy, environment, seen: words, retryAfter: UndeterminedValidation.usualRetry), .lasting)
        }
        let permit = state.withLock {
            $0.breakers[environment, default: CircuitBreaker()].permit(at: clock.now())
        }
        if case .refused(let retryAfter) = permit {
            await limit.leave(app)
            let words = "the last calls had no answer; the next is made in \(retryAfter.wholeSeconds) s"
            return .undetermined(.init(.circuitOpen, environment, seen: words, retryAfter: retryAfter), .lasting)
        }
        let result = await exchange.send(body, to: environment)
        await limit.leave(app)
        let attempt = judge(result, environment, isSwitched)
        report(permit, attempt, environment)
        return attempt
    }

    private func judge(
        _ result: Result<VerifyReceiptExchange.Reply, UndeterminedValidation>, _ environment: ValidationEnvironment,
        _ isSwitched: Bool
    ) -> Attempt {
        switch result {
        case .failure(let reason): return .undetermined(reason, reason.code == .cancelled ? .lasting : .passing)
        case .success(let reply):
            let response = reply.response
            let judgement = ReplyJudgement(
                status: response.status, retryFlag: response.retryFlag?.isRetryable, asked: environment,
                isSwitched: isSwitched)
            switch judgement {
            case .conclusive: return .conclusive(reply)
            case .otherEnvironment: return .otherEnvironment
            case .undetermined(let persistence):
                return .undetermined(
                    UndeterminedValidation(
                        .status, environment, seen: "status \(response.status.rawValue)", status: response.status,
                        json: reply.json.count <= UndeterminedValidation.keptReplyBytes ? reply.json : nil,
                        retryAfter: UndeterminedValidation.usualRetry), persistence)
            }
        }
    }

    private func report(_ permit: CircuitBreaker.Permit, _ attempt: Attempt, _ environment: ValidationEnvironment) {
        let change = state.withLock { state -> CircuitBreaker.Change? in
            let now = clock.now()
            var breaker = state.breakers[environment, default: CircuitBreaker()]
            defer { state.breakers[environment] = breaker }
            if case .undetermined(let reason, _) = attempt, reason.code == .cancelled {
                breaker.giveBack(permit, at: now)
                return nil
            }
            return breaker.report(permit, isAnswered: attempt.isAnswered, at: now, random: clock.random())
        }
        if let change { onCircuitChange(environment, change) }
    }

    private static func body(_ request: ReceiptValidationRequest, _ secret: SharedSecret?) -> [UInt8] {
        let text = [UInt8](Data(request.receipt).base64EncodedData())
        var json = JSONWriter(capacity: text.count + 200)
        json.object { json in
            json.key("receipt-data")
            json.string(utf8: text)
            if let secret {
                json.key("password")
                json.string(utf8: secret.utf8)
            }
            if request.excludesOldTransactions {
                json.key("exclude-old-transactions")
                json.boolean(true)
            }
        }
        return json.bytes
    }
}

extension Duration {
    /// Rounded up, for people.
    fileprivate var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}

/// One attempt: a request to one of the two addresses, and the reply or the reason why there is none.
struct VerifyReceiptExchange: Sendable {
    private let exchange: HTTPExchange
    private let settings: AppStoreConnectionSettings

    /// - Throws: `AppStoreConnectionSettingsError` if the trusted authorities cannot be read.
    init(
        _ settings: AppStoreConnectionSettings, limits: AttemptLimits, skew: ClockSkew
    ) throws(AppStoreConnectionSettingsError) {
        self.settings = settings
        exchange = try HTTPExchange(
            trustFile: settings.trustFile, limits: limits, largestReply: VerifyReceiptResponse.largestReply,
            skew: skew)
    }

    /// A reply, decoded, with its bytes.
    struct Reply: Sendable {
        let json: [UInt8]
        let response: VerifyReceiptResponse
    }

    /// Sends one request.
    func send(_ body: [UInt8], to environment: ValidationEnvironment) async -> Result<Reply, UndeterminedValidation> {
        var request = HTTPClientRequest(url: settings.url(of: environment).absoluteString)
        request.method = .POST
        request.headers = [
            "content-type": "application/json", "accept": "application/json", "accept-encoding": "gzip",
            "user-agent": "assay",
        ]
        // Bytes of a known length: Apple answers a chunked request with 21199.
        request.body = .bytes(ByteBuffer(bytes: body))
        switch await exchange.send(request) {
        case .success(let reply) where reply.status == 200: return Self.decode(reply.body, environment)
        case .success(let reply):
            let isRedirect = (300..<400).contains(reply.status)
            let words = isRedirect ? "a redirect, which is not followed" : "the HTTP status of an error"
            return .failure(.init(.httpStatus, environment, seen: "\(reply.status), \(words)"))
        case .failure(let failure): return .failure(.init(failure.code, environment, seen: failure.words))
        }
    }

    func shutdown() async throws { try await exchange.shutdown() }

    private static func decode(
        _ json: [UInt8], _ environment: ValidationEnvironment
    ) -> Result<Reply, UndeterminedValidation> {
        do {
            return .success(Reply(json: json, response: try VerifyReceiptResponse(json: json)))
        } catch {
            let kept = json.count <= UndeterminedValidation.keptReplyBytes ? json : nil
            return .failure(.init(.unreadable, environment, seen: "\(error)", json: kept))
        }
    }
}

extension UndeterminedValidation {
    /// The time of the next question if neither the outcome nor the circuit breaker determines one.
    static let usualRetry = Duration.seconds(5)

    fileprivate init(
        _ code: Code, _ environment: ValidationEnvironment, seen: String, json: [UInt8]? = nil
    ) {
        self.init(code, environment, seen: seen, json: json, retryAfter: Self.usualRetry)
    }
}
