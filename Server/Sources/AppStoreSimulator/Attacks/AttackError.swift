/// Why the attacks could not be made.
public enum AttackError: Error, Hashable, Sendable {
    /// The address is no plain `http://` one.
    case notPlainHTTP(String)
    /// Nobody answers there.
    case unreachable(String, reason: String)
    /// What is genuine is refused, so that to refuse forgeries proves nothing.
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
