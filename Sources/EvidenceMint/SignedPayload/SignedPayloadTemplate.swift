public import Foundation

/// The content of a signed payload (JWS): a transaction, renewal information, an app transaction or a notification.
///
/// Nothing is checked, so that wrong content can be made as well. A field that is nil is omitted.
public protocol SignedPayloadTemplate: Sendable {
    /// When it was signed; the certificates must be valid then.
    var signingDate: Date? { get }
    /// The name of the claim with that date.
    static var signingDateClaim: String { get }
    /// The format of dates.
    var dateStyle: ClaimDateStyle { get set }
    /// Further claims, last, in this order.
    var extra: [Claim] { get set }

    /// All claims, in the order of the App Store.
    /// - Parameter sign: signs nested data, and returns it as a compact JWS.
    func claims(signing sign: (any SignedPayloadTemplate) throws -> String) rethrows -> [Claim]
}

extension SignedPayloadTemplate {
    /// The claim `signedDate`.
    public static var signingDateClaim: String { "signedDate" }

    /// The `NamedField` properties in their order, then the further claims.
    public func claims(signing sign: (any SignedPayloadTemplate) throws -> String) rethrows -> [Claim] {
        try namedClaims(of: self, dateStyle, sign) + extra
    }

    /// The same; nested data is left empty.
    public var claims: [Claim] { claims { _ in "" } }

    /// The JSON text that is signed.
    /// - Parameter sign: signs nested data, and returns it as a compact JWS.
    public func payload(signing sign: (any SignedPayloadTemplate) throws -> String) rethrows -> [UInt8] {
        ClaimValue.object(try claims(signing: sign)).json
    }
}

extension Date {
    /// The date with about a quarter of a millisecond more, a part of a second that a `Date` holds exactly: Xcode's
    /// dates are finer than milliseconds.
    var finerThanMilliseconds: Date { addingTimeInterval(1.0 / 4096) }
}

/// The format of dates in a signed payload: milliseconds since 1970, as a JSON number.
public enum ClaimDateStyle: Hashable, Sendable {
    /// `1738826186000`: the App Store.
    case wholeMilliseconds
    /// `1697679936049.7297`: StoreKit testing in Xcode.
    case fractionalMilliseconds
}

extension ClaimDateStyle {
    func value(_ date: Date) -> ClaimValue {
        switch self {
        case .wholeMilliseconds: .integer(date.wholeMilliseconds)
        case .fractionalMilliseconds: .number(date.timeIntervalSince1970 * 1000)
        }
    }
}

/// The proof that a signed payload was made for a device: the claims `deviceVerification` and
/// `deviceVerificationNonce`.
public struct DeviceVerification: Hashable, Sendable {
    /// `deviceVerificationNonce`, written in small letters.
    public var nonce: UUID
    /// `deviceVerification`: base64.
    public var value: String

    /// Any value, right or wrong.
    public init(nonce: UUID, value: String) { (self.nonce, self.value) = (nonce, value) }

    /// The proof for a device: the SHA-384 of nonce and device identifier, both as UUID texts in small letters
    /// (Apple, StoreKit: `AppTransaction.deviceVerification`).
    /// - Parameter deviceID: the device's `AppStore.deviceVerificationID`.
    public init(nonce: UUID, deviceID: UUID) {
        let text = nonce.uuidString.lowercased() + deviceID.uuidString.lowercased()
        self.init(nonce: nonce, value: Data(ReceiptDigest.sha384.hash(Array(text.utf8))).base64EncodedString())
    }

    /// The proof for a device, with a nonce that is derived from a text, so that it is the same each time.
    init(deviceID: UUID, seed: String) {
        self.init(nonce: UUID(derivedFrom: "nonce|" + seed), deviceID: deviceID)
    }
}

extension UUID {
    /// A UUID that looks random (version 4) and is the same for the same text.
    init(derivedFrom seed: String) {
        var octets = Array(ReceiptDigest.sha256.hash(Array(seed.utf8)).prefix(16))
        octets[6] = octets[6] & 0x0F | 0x40
        octets[8] = octets[8] & 0x3F | 0x80
        let groups = [octets[0..<4], octets[4..<6], octets[6..<8], octets[8..<10], octets[10..<16]]
        let text = groups.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        self = UUID(uuidString: text.joined(separator: "-")) ?? UUID()
    }
}
