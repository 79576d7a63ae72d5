/// A fault of the connection or of the bytes of an answer, whatever the answer says.
struct TransportFault: Sendable {
    /// Nil for an answer that is only late.
    var kind: Kind?
    /// The delay of the answer; for a slow body that of its second half.
    var milliseconds: Int?
    /// The size of a huge body.
    var bytes: Int?

    /// The words are those of the faults of answers.
    enum Kind: String, Sendable {
        case reset, silence, outage, redirect, html
        case brokenJSON = "broken-json"
        case slowBody = "slow-body"
        case hugeBody = "huge-body"
        case closedBody = "closed-body"
    }
}

extension InjectedFault {
    /// The part of the fault that does not depend on the answer.
    var transport: TransportFault {
        // The milliseconds of a 429 are in its header.
        TransportFault(
            kind: TransportFault.Kind(rawValue: kind.rawValue),
            milliseconds: kind.rawValue == ServerAPIFault.Kind.tooManyRequests.rawValue ? nil : milliseconds,
            bytes: bytes)
    }
}
