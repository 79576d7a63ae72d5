/// Why evidence could not be minted, or an authority not be made or read.
public enum MintError: Error, Hashable, Sendable {
    /// The bytes are no X.509 certificate that can be read.
    case malformedCertificate
    /// A private key does not belong to the certificate it was given with. The name says which.
    case keyMismatch(String)
    /// A folder that should hold an authority lacks a file, or the file cannot be read.
    case unreadableFile(String)
    /// A folder for an authority could not be written, and what the system said.
    case unwritableFolder(String, reason: String)
    /// The content lacks what a fault would break, such as the bundle identifier of renewal information.
    case inapplicableFault(String)
}

extension MintError: CustomStringConvertible {
    /// The reason in words.
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
