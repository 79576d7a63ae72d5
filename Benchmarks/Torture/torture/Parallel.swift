import Foundation
import Synchronization

/// Work on all cores.
enum Parallel {
    /// Runs the body for the numbers below the count, in chunks, and joins the results of the chunks.
    static func collect<Value: Sendable>(
        count: Int, into start: Value, _ body: @Sendable (Int, inout Value) -> Void,
        join: @Sendable (inout Value, Value) -> Void
    ) -> Value {
        let chunk = max(1, min(512, count / 64))
        let total = Mutex(start)
        DispatchQueue.concurrentPerform(iterations: (count + chunk - 1) / chunk) { index in
            var value = start
            for number in (index * chunk)..<min(count, (index + 1) * chunk) { body(number, &value) }
            total.withLock { join(&$0, value) }
        }
        return total.withLock { $0 }
    }
}

/// A count of occurrences.
typealias Tally = [String: Int]

extension Tally {
    mutating func add(_ name: String, _ count: Int = 1) { self[name, default: 0] += count }

    mutating func add(_ other: Tally) { for (name, count) in other { add(name, count) } }

    var total: Int { values.reduce(0, +) }

    /// The most frequent first, in one line.
    var line: String {
        sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}
