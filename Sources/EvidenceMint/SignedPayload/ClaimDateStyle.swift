import Foundation

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
