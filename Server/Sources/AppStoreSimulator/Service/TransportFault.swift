/// A fault of the connection or of the bytes of an answer, whatever the answer says.
struct TransportFault: Sendable {
    /// Nil for an answer that is only late.
    var kind: Kind?
    /// The delay of the answer; for a slow body that of its second half.
    var milliseconds: Int?
    /// The size of a huge body.
    var bytes: Int?

    enum Kind: Sendable {
        case reset, silence, outage, redirect, html, brokenJSON, slowBody, hugeBody, closedBody
    }
}

extension AnswerFault {
    /// The part of the fault that does not depend on the answer.
    var transport: TransportFault {
        let kind: TransportFault.Kind? =
            switch self.kind {
            case .reset: .reset
            case .outage: .outage
            case .redirect: .redirect
            case .html: .html
            case .brokenJSON: .brokenJSON
            case .slowBody: .slowBody
            case .hugeBody: .hugeBody
            case .closedBody: .closedBody
            case .status, .latency, .edited, .anotherReceipt: nil
            }
        return TransportFault(kind: kind, milliseconds: milliseconds, bytes: bytes)
    }
}

extension ServerAPIFault {
    /// The part of the fault that does not depend on the answer.
    var transport: TransportFault {
        let kind: TransportFault.Kind? =
            switch self.kind {
            case .reset: .reset
            case .silence: .silence
            case .outage: .outage
            case .html: .html
            case .brokenJSON: .brokenJSON
            case .slowBody: .slowBody
            case .hugeBody: .hugeBody
            case .closedBody: .closedBody
            case .latency, .error, .retryable, .unauthorized, .stale, .tooManyRequests, .wrongTypes, .emptyObject,
                .anotherTransaction, .anotherApp:
                nil
            }
        return TransportFault(
            kind: kind, milliseconds: self.kind == .tooManyRequests ? nil : milliseconds, bytes: bytes)
    }
}
