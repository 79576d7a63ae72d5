import Foundation

/// Runs blocking work on a separate thread: a test that waited for a program in its own task would block one of the few
/// threads that all asynchronous tests, and the servers in them, share.
public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
