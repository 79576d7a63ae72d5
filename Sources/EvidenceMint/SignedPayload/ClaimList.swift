import Foundation

/// Collects claims in their order and omits those that are nil.
struct ClaimList {
    private(set) var claims: [Claim] = []
    let dateStyle: ClaimDateStyle

    init(_ dateStyle: ClaimDateStyle) {
        self.dateStyle = dateStyle
    }

    mutating func add(_ name: String, _ text: String?) {
        add(name, text.map(ClaimValue.string))
    }

    mutating func add(_ name: String, _ number: Int64?) {
        add(name, number.map(ClaimValue.integer))
    }

    mutating func add(_ name: String, _ value: Bool?) {
        add(name, value.map(ClaimValue.boolean))
    }

    mutating func add(_ name: String, _ texts: [String]?) {
        add(name, texts.map { ClaimValue.array($0.map(ClaimValue.string)) })
    }

    mutating func add(_ name: String, _ date: Date?) {
        add(name, date.map(dateStyle.value))
    }

    mutating func add(_ name: String, object members: [Claim]?) {
        add(name, members.map(ClaimValue.object))
    }

    mutating func add(_ verification: DeviceVerification?) {
        add("deviceVerification", verification?.value)
        add("deviceVerificationNonce", verification?.nonce.uuidString.lowercased())
    }

    private mutating func add(_ name: String, _ value: ClaimValue?) {
        if let value {
            claims.append(Claim(name, value))
        }
    }
}
