public import Foundation

/// A claim of a signed payload, or a field of a transaction receipt, with its name as Apple spells it. It is omitted if
/// it is nil.
///
/// The fields of a type are written in the order in which its properties are declared.
@propertyWrapper
public struct NamedField<Value: Hashable & Sendable>: Hashable, Sendable {
    public var wrappedValue: Value?
    let name: String

    public init(wrappedValue: Value? = nil, _ name: String) {
        (self.wrappedValue, self.name) = (wrappedValue, name)
    }
}

/// Signs nested data, and returns it as a compact JWS.
typealias NestedSigner = (any SignedPayloadTemplate) throws -> String

/// A value that a claim can have.
protocol ClaimContent {
    func value(_ style: ClaimDateStyle, _ sign: NestedSigner) rethrows -> ClaimValue
    static func value(of list: [Self]) -> ClaimValue
}

extension ClaimContent {
    static func value(of list: [Self]) -> ClaimValue {
        .array(list.map { $0.value(.wholeMilliseconds) { _ in "" } })
    }
}

extension String: ClaimContent {
    func value(_: ClaimDateStyle, _: NestedSigner) -> ClaimValue { .string(self) }
}

extension Int64: ClaimContent {
    func value(_: ClaimDateStyle, _: NestedSigner) -> ClaimValue { .integer(self) }
}

extension UInt64: ClaimContent {
    func value(_: ClaimDateStyle, _: NestedSigner) -> ClaimValue { .raw(String(self)) }
}

extension Bool: ClaimContent {
    func value(_: ClaimDateStyle, _: NestedSigner) -> ClaimValue { .boolean(self) }
}

extension Date: ClaimContent {
    func value(_ style: ClaimDateStyle, _: NestedSigner) -> ClaimValue { style.value(self) }
}

extension Claim: ClaimContent {
    func value(_: ClaimDateStyle, _: NestedSigner) -> ClaimValue { value }
    static func value(of list: [Claim]) -> ClaimValue { .object(list) }
}

extension Array: ClaimContent where Element: ClaimContent {
    func value(_: ClaimDateStyle, _: NestedSigner) -> ClaimValue { Element.value(of: self) }
}

/// An object with `NamedField` properties.
protocol ClaimObject: ClaimContent {
    /// Further members, last, in this order.
    var extra: [Claim] { get }
}

extension ClaimObject {
    var extra: [Claim] { [] }

    func value(_ style: ClaimDateStyle, _ sign: NestedSigner) rethrows -> ClaimValue {
        .object(try namedClaims(of: self, style, sign) + extra)
    }
}

/// Data that is signed together with the notification around it.
protocol NestedPayload: ClaimContent, SignedPayloadTemplate {}

extension NestedPayload {
    func value(_: ClaimDateStyle, _ sign: NestedSigner) rethrows -> ClaimValue { .string(try sign(self)) }
}

/// The claims of the properties of a value, in their order.
func namedClaims(of value: Any, _ style: ClaimDateStyle, _ sign: NestedSigner) rethrows -> [Claim] {
    var claims: [Claim] = []
    for (_, property) in Mirror(reflecting: value).children {
        if let claim = property as? any AnyNamedField {
            if let value = try claim.value(style, sign) { claims.append(Claim(claim.name, value)) }
        } else if let verification = property as? DeviceVerification {
            claims.append(Claim("deviceVerification", .string(verification.value)))
            claims.append(Claim("deviceVerificationNonce", .string(verification.nonce.uuidString.lowercased())))
        }
    }
    return claims
}

private protocol AnyNamedField {
    var name: String { get }
    func value(_ style: ClaimDateStyle, _ sign: NestedSigner) rethrows -> ClaimValue?
}

extension NamedField: AnyNamedField where Value: ClaimContent {
    fileprivate func value(_ style: ClaimDateStyle, _ sign: NestedSigner) rethrows -> ClaimValue? {
        try wrappedValue?.value(style, sign)
    }
}
