/// The reasons why the attacks cannot be made.
public enum AttackError: Error, Hashable, Sendable {
    /// The address is not a plain `http://` address.
    case notPlainHTTP(String)
    /// Nothing answers at the address.
    case unreachable(String, reason: String)
    /// The server refuses genuine evidence, so its refusals of forgeries prove nothing.
    case genuineRefused(evidence: String, answer: String)
}

extension AttackError: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .notPlainHTTP(let text):
            "'\(text)' is not an address of the form http://HOST:PORT. The attacks use plain HTTP only; run them behind the "
                + "proxy that terminates TLS."
        case .unreachable(let address, let reason): "Nothing answers at \(address): \(reason)"
        case .genuineRefused(let evidence, let answer):
            "The server refuses a genuine \(evidence) (\(answer)), so its refusals of forgeries prove nothing. It must trust "
                + "the simulator's authority (--trust FOLDER/trust.pem) and accept the environments of the evidence. /v1/purchases is attacked with the consumable 'coins', which the settings must have."
        }
    }
}
