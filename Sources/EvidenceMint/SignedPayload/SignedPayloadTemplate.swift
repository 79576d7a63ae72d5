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

    /// The JSON text that is signed.
    /// - Parameter sign: signs nested data, and returns it as a compact JWS.
    public func payload(signing sign: (any SignedPayloadTemplate) throws -> String) rethrows -> [UInt8] {
        ClaimValue.object(try claims(signing: sign)).json
    }
}

extension Date {
    /// The date with about a quarter of a millisecond more, a part of a second that a `Date` holds exactly: Xcode's
    /// dates are finer than milliseconds.
    var finerThanMilliseconds: Date {
        addingTimeInterval(1.0 / 4096)
    }
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
