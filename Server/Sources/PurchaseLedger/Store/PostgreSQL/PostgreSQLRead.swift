import Foundation

/// Unchecked because only one thread at a time touches a job: the one that submits it, and then the reader that took
/// it.
final class PostgreSQLRead<Value: Sendable>: PostgreSQLReadJob, @unchecked Sendable {
    let isStatement: Bool
    private let body: @Sendable (any LedgerConnection) throws -> Value
    private let continuation: CheckedContinuation<Value, any Error>
    private var value: Value?

    init(
        isStatement: Bool, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value,
        _ continuation: CheckedContinuation<Value, any Error>
    ) {
        self.isStatement = isStatement
        self.body = body
        self.continuation = continuation
    }

    func perform(_ connection: any LedgerConnection) throws { value = try body(connection) }

    func succeed() {
        guard let value else {
            return fail(LedgerStorageError(.other, "a read was answered before it ran"))
        }
        continuation.resume(returning: value)
    }

    func fail(_ error: any Error) { continuation.resume(throwing: error) }
}
