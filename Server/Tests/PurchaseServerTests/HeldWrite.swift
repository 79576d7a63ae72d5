import Dispatch
import PurchaseLedger
import Synchronization

/// A write that keeps the database's writer busy until it is released, however slow the machine is.
final class HeldWrite: LedgerOperation {
    private let end = DispatchSemaphore(value: 0)
    private let isRunning = Mutex(false)

    func perform(_: LedgerTransaction) {
        isRunning.withLock { $0 = true }
        end.wait()
    }

    /// Occupies the writer while a body runs.
    static func during<Value: Sendable>(
        _ ledger: PurchaseLedger, _ body: () async throws -> Value
    ) async throws -> Value {
        let write = HeldWrite()
        let writing = Task { try await ledger.perform(write) }
        while !write.isRunning.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        write.end.signal()
        try await writing.value
        return try result.get()
    }
}
