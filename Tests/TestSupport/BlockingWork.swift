import Foundation

/// Does what blocks on a thread of its own: a test that waited for a program in its own task would hold one of the few threads
/// that all asynchronous tests, and the servers in them, share.
public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
