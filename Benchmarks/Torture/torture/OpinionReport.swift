import Crypto
import CryptoExtras
import Foundation
import PurchaseVerification
import Synchronization

/// A count of the agreements and disagreements of two verifiers.
struct OpinionTally: Sendable {
    var bothAccept = 0
    var bothRefuse = 0
    /// By the code of the stricter rule and its reason.
    var onlyOther: Tally = [:]
    /// By the reason.
    var onlyCore: Tally = [:]
    var unexplained: [String] = []

    /// Counts one comparison.
    ///
    /// - Parameters:
    ///   - name: what was compared.
    ///   - refusal: the core's reason; `nil` if it accepts.
    ///   - stricter: why the core may refuse what the other verifier accepts.
    ///   - weaker: why it may accept what the other one refuses.
    mutating func note(
        _ name: String, _ refusal: ReasonCode?, _ opinion: (accepts: Bool, reason: String),
        by other: String = "OpenSSL", stricter: (ReasonCode) -> String?, weaker: () -> String? = { nil }
    ) {
        switch (refusal, opinion.accepts) {
        case (nil, true): bothAccept += 1
        case (.some, false): bothRefuse += 1
        case (let code?, true):
            if let reason = stricter(code) {
                onlyOther.add("\(code.rawValue) | \(reason)")
            } else {
                unexplained.append("only \(other) accepts \(name): \(code.rawValue)")
            }
        case (nil, false):
            if let reason = weaker() {
                onlyCore.add(reason)
            } else {
                unexplained.append("only the core accepts \(name): \(opinion.reason)")
            }
        }
    }

    mutating func add(_ other: OpinionTally) {
        bothAccept += other.bothAccept
        bothRefuse += other.bothRefuse
        onlyOther.add(other.onlyOther)
        onlyCore.add(other.onlyCore)
        unexplained += other.unexplained
    }
}

/// The tallies of all groups of messages, as tables.
struct OpinionReport {
    private var groups: [(name: String, tally: OpinionTally)] = []
    /// The name of the other verifier.
    let other: String

    init(_ other: String = "OpenSSL") { self.other = other }

    mutating func add(_ name: String, _ tally: OpinionTally) { groups.append((name, tally)) }

    private var sum: OpinionTally { groups.reduce(into: OpinionTally()) { $0.add($1.tally) } }

    /// Whether everything is explained, and both kinds of agreement occurred: a comparison that never accepts proves
    /// nothing.
    var holds: Bool { sum.unexplained.isEmpty && sum.bothAccept > 0 && sum.bothRefuse > 0 }

    func show() {
        print("| messages | both accept | both refuse | only \(other) accepts | only the core accepts | unexplained |")
        print("|---|---:|---:|---:|---:|---:|")
        for (name, tally) in groups + [("sum", sum)] {
            print(
                "| \(name) | \(tally.bothAccept) | \(tally.bothRefuse) | \(tally.onlyOther.total) "
                    + "| \(tally.onlyCore.total) | \(tally.unexplained.count) |")
        }
        print("\n| only \(other) accepts: times | code | why the core is stricter |\n|---:|---|---|")
        for (code, count) in sum.onlyOther.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            print("| \(count) | \(code) |")
        }
        print("\n| only the core accepts, because | times |\n|---|---:|")
        for (reason, count) in sum.onlyCore { print("| \(reason) | \(count) |") }
        for line in sum.unexplained { print("UNEXPLAINED: \(line)") }
    }
}

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

/// Signatures over changed content, created again so that the code after the signature check is reached.
enum Digests {
    /// RSASSA-PKCS1-v1_5, as in transaction receipts.
    static func signature(of message: Data, _ key: _RSA.Signing.PrivateKey, isSHA256: Bool) -> [UInt8]? {
        let signature =
            isSHA256
            ? try? key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5)
            : try? key.signature(for: Insecure.SHA1.hash(data: message), padding: .insecurePKCS1v1_5)
        return signature.map { [UInt8]($0.rawRepresentation) }
    }

    /// ES256, as in signed data.
    static func signature(of message: Data, _ key: P256.Signing.PrivateKey) -> [UInt8]? {
        (try? key.signature(for: message)).map { [UInt8]($0.rawRepresentation) }
    }
}
