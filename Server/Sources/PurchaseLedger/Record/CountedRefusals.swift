import PurchaseVerification

/// Refusals beyond the daily budget of one API key, which are counted and not recorded one by one.
struct CountedRefusals: Sendable, Equatable {
    var app: String
    var keyID: String?
    /// The number of refusals with each code.
    var codes: [String: Int64]
    /// The hash of the last evidence; `nil` if no refusal had evidence.
    var lastSHA256: [UInt8]?
    /// When the first of them was refused.
    var since: Timestamp

    var count: Int64 { codes.values.reduce(0, +) }

    /// The most frequent code; of several, the first in the alphabet.
    var code: String { codes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? "" }

    mutating func add(_ later: CountedRefusals) {
        codes.merge(later.codes, uniquingKeysWith: +)
        lastSHA256 = later.lastSHA256 ?? lastSHA256
        since = min(since, later.since)
    }
}
