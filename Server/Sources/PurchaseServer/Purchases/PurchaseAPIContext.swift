import Hummingbird
import PurchaseAPI
import PurchaseLedger
import Synchronization

/// The objects that all routes of `/v1` share.
final class PurchaseAPIContext: Sendable {
    let ledger: TimedLedger
    let bodies: BodyReader
    /// Asks the App Store about claims.
    let appStoreClaims: AppStoreClaimService
    /// The traces of the requests, for webhooks.
    let traces: RecentTraces
    let metrics: ServerMetrics
    private let workers: WorkerPool

    /// The number of requests with an idempotency key.
    private let keyed = Atomic(0)
    /// The time for which idempotency keys are remembered, in milliseconds: seven days.
    private static let keyLifetime: Int64 = 7 * 86_400_000
    /// One in this number of requests with a key also deletes old keys.
    private static let keysPerDeletion = 1024

    init(
        ledger: TimedLedger, bodies: BodyReader, workers: WorkerPool, appStoreClaims: AppStoreClaimService,
        traces: RecentTraces, metrics: ServerMetrics
    ) {
        (self.traces, self.metrics) = (traces, metrics)
        self.appStoreClaims = appStoreClaims
        self.ledger = ledger
        self.bodies = bodies
        self.workers = workers
    }

    /// Reads a request, off the threads that serve connections.
    ///
    /// - Throws: a problem that describes the first error in it.
    func request<Message: RequestMessage>(_: Message.Type, from body: [UInt8]) async throws -> Message {
        let read = try await workers.run { Message.read(body) }
        // A flaw that names a field of the body says more than the field's name alone.
        if let flaw = read.flaw, flaw.found != nil { throw Problem(flaw) }
        if let unknown = read.unknown.first, !Message.ignoresUnknownMembers { throw Problem(unknown) }
        if let flaw = read.flaw { throw Problem(flaw) }
        return read.message
    }

    /// Verifies evidence, off the threads that serve connections.
    func verify<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await workers.run(work)
    }

    /// The page of a list that the parameters `cursor` and `limit` of a request name.
    func page<List: LedgerList>(of list: List, _ request: Request) async throws -> List.Answer {
        var list = list
        list.cursor = try request.value("cursor").map(List.Cursor.init(text:))
        list.limit = try request.limit(default: list.limit)
        return try await ledger.answer(list)
    }

    /// The customer into whom a customer was merged; `nil` if they were not.
    func survivor(of customerID: String, app: String) async throws -> String? {
        try await ledger.answer(SurvivorOfCustomer(app: app, customerID: customerID))
    }

    /// The request under its `Idempotency-Key`; `nil` if it has none. It is then done each time it is sent.
    func once(_ request: Request, _ context: ServerContext, _ body: [UInt8]) async throws -> IdempotentRequest? {
        guard let key = try request.idempotencyKey() else { return nil }
        if keyed.add(1, ordering: .relaxed).oldValue % Self.keysPerDeletion == 0 {
            _ = try await ledger.perform(ForgetIdempotencyKeys(age: Self.keyLifetime))
        }
        return IdempotentRequest(
            sender: [context.caller?.key.id ?? ""], key: key, method: request.method.rawValue, path: request.uri.path,
            body: body)
    }
}
