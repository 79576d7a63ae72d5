/// Why a piece of evidence was not accepted.
///
/// The `code` is the contract: it is the same in the ledger, in logs, in HTTP headers and problem documents, and on the
/// command line. `expected` and `found` are the two facts that disagreed, where there are two. `message` is a sentence for
/// people and may change.
public struct VerificationError: Error, Sendable, Equatable {
    /// The stable code, one of `ReasonCode`.
    public let code: ReasonCode
    /// What the rule asked for, in words or as a value; `nil` where the code says it all.
    public let expected: String?
    /// What the evidence held instead; `nil` where there is nothing to show.
    public let found: String?

    /// The reason of a policy of one's own. Facts longer than 512 bytes are clipped.
    public init(_ code: ReasonCode, expected: String? = nil, found: String? = nil) {
        self.code = code
        self.expected = expected.map(Self.clipped)
        self.found = found.map(Self.clipped)
    }

    /// Facts come from the evidence, and may be as long as it is. One character may be, too, with all that combines with it.
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
