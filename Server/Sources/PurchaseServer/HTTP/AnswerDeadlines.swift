import NIOCore
import NIOPosix
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// The time limit for calls of the database, so that a request gets 503 while PostgreSQL stands still, before its
/// client gives up.
///
/// The call is not interrupted. An act that it completes later is a repeat when the client tries again. All calls are
/// looked at once a second, so a call costs no timer of its own.
package final class AnswerDeadlines: Sendable {
    private let limit: TimeAmount
    private let state = Mutex(State())

    private struct State {
        var calls: [UInt64: Call] = [:]
        var nextID: UInt64 = 0
        var isScheduled = false
    }

    private struct Call {
        let fail: @Sendable (LedgerStorageError) -> Void
        let kind: LedgerStorageError.Kind
        let deadline: NIODeadline
    }

    package init(seconds: Double) {
        limit = .nanoseconds(Int64(seconds * 1e9))
    }

    /// Runs a call.
    ///
    /// - Parameter kind: the error if it takes too long.
    /// - Throws: the errors of the body, and `LedgerStorageError`.
    func run<Value: Sendable>(
        orFail kind: LedgerStorageError.Kind, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withUnsafeThrowingContinuation { continuation in
            let id = add(kind) { continuation.resume(throwing: $0) }
            Task {
                let result: Result<Value, any Error>
                do {
                    result = .success(try await body())
                } catch {
                    result = .failure(error)
                }
                if remove(id) { continuation.resume(with: result) }
            }
        }
    }

    private func add(
        _ kind: LedgerStorageError.Kind, _ fail: @escaping @Sendable (LedgerStorageError) -> Void
    ) -> UInt64 {
        let (id, isFirst) = state.withLock { state in
            state.nextID += 1
            state.calls[state.nextID] = Call(fail: fail, kind: kind, deadline: .now() + limit)
            defer { state.isScheduled = true }
            return (state.nextID, !state.isScheduled)
        }
        if isFirst { schedule() }
        return id
    }

    /// Whether the call was not failed before.
    private func remove(_ id: UInt64) -> Bool { state.withLock { $0.calls.removeValue(forKey: id) != nil } }

    private func schedule() {
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: min(limit, .seconds(1))) { self.failLateCalls() }
    }

    private func failLateCalls() {
        let now = NIODeadline.now()
        let (late, continues) = state.withLock { state in
            let late = state.calls.filter { $0.value.deadline <= now }
            for id in late.keys { state.calls[id] = nil }
            state.isScheduled = !state.calls.isEmpty
            return (late.values.map(\.self), state.isScheduled)
        }
        for call in late { call.fail(LedgerStorageError(call.kind, "the database gave no answer in time")) }
        if continues { schedule() }
    }
}

/// The ledger as requests use it: each call of the database has a time limit.
struct TimedLedger: Sendable {
    let ledger: PurchaseLedger
    let deadlines: AnswerDeadlines

    /// Performs an operation; after the time limit it may still be stored.
    func perform<Operation: LedgerOperation>(_ operation: Operation) async throws -> Operation.Outcome {
        try await deadlines.run(orFail: .outcomeUnknown) { [ledger] in try await ledger.perform(operation) }
    }

    /// Records the evidence of a wrong restore; after the time limit, a part of it may be stored.
    func observe(_ examined: ExaminedRestore, flaw: Rejection) async throws -> Int {
        try await deadlines.run(orFail: .outcomeUnknown) { [ledger] in
            try await ledger.observe(examined, flaw: flaw)
        }
    }

    func answer<Query: LedgerQuery>(_ query: Query) async throws -> Query.Answer {
        try await deadlines.run(orFail: .unavailable) { [ledger] in try await ledger.answer(query) }
    }

    func examine(_ submission: PurchaseSubmission) -> ExaminedSubmission { ledger.examine(submission) }

    func examine(_ submission: RestoreSubmission) -> ExaminedRestore { ledger.examine(submission) }

    func inspect(_ evidence: [UInt8], app: String) -> EvidenceInspection { ledger.inspect(evidence, app: app) }

    func genuine(_ submission: EvidenceSubmission) throws(VerificationError) -> ExaminedEvidenceSubmission {
        try ledger.genuine(submission)
    }

    func isCertificateHeaderKnown(of signedPayload: [UInt8]) -> Bool {
        ledger.isCertificateHeaderKnown(of: signedPayload)
    }
}
