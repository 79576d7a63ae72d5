#if canImport(StoreKit)
    import Foundation

    /// StoreKit's values of the transactions that were delivered and not finished, by a key, so that `finish` need not
    /// search for them.
    ///
    /// Unchecked, because the lock guards the values.
    final class KeptTransactions<Value>: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [String: [Value]] = [:]

        /// Keeps the newest value of a transaction.
        func keep(_ value: Value, _ key: String) { locked { values[key] = [value] } }

        /// Keeps a value beside others with the same key: failed payments have no id.
        func add(_ value: Value, _ key: String, where isSame: (Value) -> Bool) {
            locked { values[key] = (values[key] ?? []).filter { !isSame($0) } + [value] }
        }

        /// Removes the values of a key, and returns them.
        func remove(_ key: String) -> [Value] { locked { values.removeValue(forKey: key) ?? [] } }

        /// The number of keys, for tests.
        var count: Int { locked { values.count } }

        private func locked<Result>(_ body: () -> Result) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return body()
        }
    }
#endif
