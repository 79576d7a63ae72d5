import Foundation

/// A fault of the next answers of a server: when it applies, and to how many answers.
protocol InjectedFault: RequestBody {
    associatedtype Kind: RawRepresentable<String>
    var kind: Kind { get }
    /// The delay of the answer, in addition to any other fault.
    var milliseconds: Int? { get }
    /// The size of a huge body.
    var bytes: Int? { get }
    /// The time of the store's clock from which on the fault applies.
    var from: Date? { get }
    /// The time of the store's clock at which the fault ends. A fault with an end applies to all answers until then,
    /// and its count is ignored.
    var until: Date? { get }
    /// The number of answers that the fault still applies to.
    var count: Int { get set }
    /// Whether it is nothing but a delay.
    var isLatency: Bool { get }
}

extension InjectedFault {
    /// Whether the fault is over for good.
    private func isOver(at now: Date) -> Bool { until.map { $0 <= now } ?? (count <= 0) }

    func checkTerms() throws(StoreError) {
        guard (1...1_000_000).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to 1000000 answers, not \(count).")
        }
        guard (0...600_000).contains(milliseconds ?? 0), !isLatency || milliseconds != nil else {
            throw StoreError(.invalidValue, "A latency has 0 to 600000 milliseconds.")
        }
        guard (1...(64 << 20)).contains(bytes ?? 1) else {
            throw StoreError(.invalidValue, "'bytes' is 1 to 67108864.")
        }
        if let from, let until, until <= from {
            throw StoreError(.invalidValue, "The fault ends before it begins.")
        }
    }

    /// Takes the next fault that hits an answer at a time of the store's clock.
    static func take(from faults: inout [Self], at now: Date, where hits: (Self) -> Bool = { _ in true }) -> Self? {
        faults.removeAll { $0.isOver(at: now) }
        guard let index = faults.firstIndex(where: { $0.from.map { $0 <= now } ?? true && hits($0) }) else {
            return nil
        }
        let fault = faults[index]
        if fault.until == nil {
            faults[index].count -= 1
            faults.removeAll { $0.isOver(at: now) }
        }
        return fault
    }
}

/// A count that is 1 if JSON lacks it.
@propertyWrapper
struct OneByDefault: Codable, Equatable, Sendable {
    var wrappedValue = 1

    init() {}

    init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    func decode(_ type: OneByDefault.Type, forKey key: Key) throws -> OneByDefault {
        try decodeIfPresent(type, forKey: key) ?? OneByDefault()
    }
}
