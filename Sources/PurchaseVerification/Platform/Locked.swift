#if canImport(Darwin)
    import Foundation
#else
    import Synchronization
#endif

/// A value that only one thread at a time reads or changes.
///
/// `Mutex` needs iOS 18 and macOS 15, so Apple's systems use an `NSLock`. On other systems `NSLock` would link all of
/// Foundation.
final class Locked<Value: Sendable>: @unchecked Sendable {
    #if canImport(Darwin)
        private let lock = NSLock()
        private var value: Value

        init(_ value: Value) { self.value = value }

        /// Runs the closure while no other thread has the value.
        func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return body(&value)
        }
    #else
        private let mutex: Mutex<Value>

        init(_ value: Value) { mutex = Mutex(value) }

        /// Runs the closure while no other thread has the value.
        func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
            mutex.withLock { body(&$0) }
        }
    #endif
}
