/// The reasons why evidence cannot be minted, or an authority cannot be made or read.
public enum MintError: Error, Hashable, Sendable {
    /// The bytes are not a readable X.509 certificate.
    case malformedCertificate
    /// A private key does not belong to its certificate. The name identifies the certificate.
    case keyMismatch(String)
    /// A folder that should hold an authority lacks a file, or the file cannot be read.
    case unreadableFile(String)
    /// A folder for an authority could not be written; the text is the system's message.
    case unwritableFolder(String, reason: String)
    /// The content lacks the part that a fault would break, such as the bundle identifier of renewal information.
    case inapplicableFault(String)
}

extension MintError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformedCertificate: "The certificate cannot be read."
        case .keyMismatch(let name): "The private key \(name) does not belong to its certificate."
        case .unreadableFile(let path): "The file \(path) is missing or cannot be read."
        case .unwritableFolder(let path, let reason): "The folder \(path) cannot be written: \(reason)"
        case .inapplicableFault(let fault): "The fault \(fault) breaks something that this content does not have."
        }
    }
}
