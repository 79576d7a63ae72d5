/// The reason why evidence was rejected.
///
/// The `code` is the contract: it is the same in the ledger, in logs, in HTTP headers and problem documents, and on the
/// command line. `expected` and `found` are the two facts that disagreed, if there are two. `message` is a sentence for
/// people and may change.
public struct VerificationError: Error, Sendable, Equatable {
    /// The stable code, one of `ReasonCode`.
    public let code: ReasonCode
    /// The requirement of the rule, in words or as a value; `nil` if the code states it.
    public let expected: String?
    /// The content of the evidence instead; `nil` if there is nothing to show.
    public let found: String?
    /// The end of the authority that had just ended; see `at(_:)`.
    var authorityEnd: AppStoreTime?

    /// The failure of a custom policy. Facts longer than 512 bytes are clipped.
    public init(_ code: ReasonCode, expected: String? = nil, found: String? = nil) {
        self.code = code
        self.expected = expected.map(Self.clipped)
        self.found = found.map(Self.clipped)
    }

    /// Facts come from the evidence and may be as long as the evidence. Even a single character with its combining
    /// marks may be that long.
    private static func clipped(_ fact: String) -> String {
        fact.utf8.count <= 512 ? fact : String(fact.unicodeScalars.prefix(128)) + "…"
    }

    /// The sentence of the code, with the two facts.
    public var message: String {
        switch (expected, found) {
        case (let expected?, let found?): "\(code.sentence) Expected \(expected), found \(found)."
        case (let expected?, nil): "\(code.sentence) Expected \(expected)."
        case (nil, let found?): "\(code.sentence) Found \(found)."
        case (nil, nil): code.sentence
        }
    }
}

extension VerificationError: CustomStringConvertible {
    public var description: String { "\(code.rawValue): \(message)" }
}
