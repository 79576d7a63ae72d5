import Foundation

/// A fault that a tester asks for, and the number of times that it still applies.
protocol CountedFault: Codable, Equatable, Sendable {
    var count: Int { get set }
    /// What is counted.
    static var counted: String { get }
    /// The members that a request for the fault may have.
    static var members: [BodyMember] { get }
    func check() throws(StoreError)
}

extension CountedFault {
    func checkCount() throws(StoreError) {
        try require(
            (1...1_000_000).contains(count), .invalidValue, "'count' is 1 to 1000000 \(Self.counted), not \(count).")
    }

    /// Takes the next fault that hits, and counts it down.
    static func take(from faults: inout [Self], where hits: (Self) -> Bool = { _ in true }) -> Self? {
        guard let index = faults.firstIndex(where: hits) else { return nil }
        let fault = faults[index]
        faults[index].count -= 1
        if faults[index].count <= 0 { faults.remove(at: index) }
        return fault
    }
}

/// A fault of the next answers of a server, with the time at which it applies.
protocol InjectedFault: CountedFault {
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
}

extension InjectedFault {
    static var counted: String { "answers" }

    func checkTerms() throws(StoreError) {
        try checkCount()
        try require(
            (0...600_000).contains(milliseconds ?? 0) && (kind.rawValue != "latency" || milliseconds != nil),
            .invalidValue,
            "A latency has 0 to 600000 milliseconds.")
        try require((1...(64 << 20)).contains(bytes ?? 1), .invalidValue, "'bytes' is 1 to 67108864.")
        if let from, let until { try require(from < until, .invalidValue, "The fault ends before it begins.") }
    }

    /// Takes the next fault that hits an answer at a time of the store's clock.
    static func take(from faults: inout [Self], at now: Date, where hits: (Self) -> Bool = { _ in true }) -> Self? {
        faults.removeAll { $0.until.map { $0 <= now } ?? false }
        func applies(_ fault: Self) -> Bool { (fault.from.map { $0 <= now } ?? true) && hits(fault) }
        guard let fault = faults.first(where: applies), fault.until != nil else {
            return take(from: &faults, where: applies)
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
