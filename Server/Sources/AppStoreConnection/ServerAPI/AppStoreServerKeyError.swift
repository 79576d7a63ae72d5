/// A key of the App Store Server API cannot be used.
public enum AppStoreServerKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    case issuerID
    case keyID
    case privateKey

    public var description: String {
        switch self {
        case .issuerID: "the issuer id is empty or longer than 128 bytes"
        case .keyID: "the key id is empty or longer than 128 bytes"
        case .privateKey: "the private key is not a P-256 key as PEM; App Store Connect offers it once, as a .p8 file"
        }
    }
}
