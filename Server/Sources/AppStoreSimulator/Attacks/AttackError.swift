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
            "'\(text)' is no address of the form http://HOST:PORT. The attacks speak plain HTTP only; put them inside of what "
                + "ends HTTPS."
        case .unreachable(let address, let reason): "Nobody answers at \(address): \(reason)"
        case .genuineRefused(let evidence, let answer):
            "A genuine \(evidence) is refused (\(answer)), so to refuse a forged one proves nothing. The server must trust the "
                + "simulator's authority (--trust FOLDER/trust.pem) and accept the environments that are used."
        }
    }
}
