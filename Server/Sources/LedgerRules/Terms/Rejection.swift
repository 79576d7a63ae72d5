public import PurchaseVerification

/// The reason why a claim is rejected: a code of the ledger or of the core, and the two facts that disagree.
public struct Rejection: Error, Sendable, Equatable {
    /// The origin of the code.
    public var reason: Reason
    /// The expected fact.
    public var expected: String?
    /// The fact found instead.
    public var found: String?
    /// Whether only the order is refused; the customer can still have the purchase.
    var isAboutOrder = false

    /// A code of the ledger, or of the core.
    public enum Reason: Sendable, Equatable {
        case decision(DecisionCode)
        case verification(ReasonCode)
    }

    /// A rejection by the ledger.
    public init(_ code: DecisionCode, expected: String? = nil, found: String? = nil) {
        reason = .decision(code)
        self.expected = expected
        self.found = found
    }

    /// A rejection by the core.
    public init(_ error: VerificationError) {
        reason = .verification(error.code)
        expected = error.expected
        found = error.found
    }

    /// A recorded rejection by the core.
    package init(_ code: ReasonCode, expected: String?, found: String?) {
        reason = .verification(code)
        self.expected = expected
        self.found = found
    }

    /// The purchase was claimed already.
    package static func alreadyClaimed(_ prior: PriorClaim) -> Rejection {
        Rejection(.alreadyClaimed, found: prior.rawValue)
    }

    /// The same rejection of the order alone.
    var aboutOrder: Rejection {
        var rejection = self
        rejection.isAboutOrder = true
        return rejection
    }

    /// Whether the claim can still be decided.
    package var isUndetermined: Bool {
        if case .decision(let code) = reason { code.isUndetermined } else { false }
    }

    /// Whether a claim with this outcome changes nothing.
    package var isWithoutEffect: Bool {
        if case .decision(let code) = reason { code.isWithoutEffect } else { false }
    }

    /// The holder of the earlier claim, if that is the reason.
    package var priorClaim: PriorClaim? {
        guard reason == .decision(.alreadyClaimed) else { return nil }
        return found.flatMap(PriorClaim.init(rawValue:))
    }

    /// The stable code.
    public var code: String {
        switch reason {
        case .decision(let code): code.rawValue
        case .verification(let code): code.rawValue
        }
    }

    /// The explanation, as a sentence.
    public var sentence: String {
        switch reason {
        case .decision(let code): code.sentence
        case .verification(let code): code.sentence
        }
    }

    /// The instruction to the app about its transaction.
    public func disposition(hasPurchase: Bool) -> Disposition {
        if isAboutOrder, hasPurchase { return .granted }
        return switch reason {
        case .decision(let code): code.disposition(hasPurchase: hasPurchase)
        case .verification(let code): code.disposition
        }
    }
}
