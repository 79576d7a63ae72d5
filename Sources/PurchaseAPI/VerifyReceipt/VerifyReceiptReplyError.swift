/// Why bytes are not read as a reply of `verifyReceipt`.
public enum VerifyReceiptReplyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// They are not JSON, from this offset on.
    case notJSON(offset: Int)
    /// They exceed a bound; the text says which.
    case tooMuch(String)
    /// An object has two members of the same name, at this offset.
    case duplicateMember(offset: Int)
    /// They are JSON, but not an object with a `status`.
    case noStatus

    public var description: String {
        switch self {
        case .notJSON(let offset): "the reply is not JSON at byte \(offset)"
        case .tooMuch(let bound): "the reply has \(bound)"
        case .duplicateMember(let offset): "the reply has a member twice, at byte \(offset)"
        case .noStatus: "the reply has no status"
        }
    }
}
