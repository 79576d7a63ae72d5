/// The reasons why the store refuses a call.
public struct StoreError: Error, Hashable, Sendable {
    public let code: Code
    /// The reason in words, with the facts.
    public let message: String

    public enum Code: String, Hashable, Sendable, CaseIterable {
        case unknownApp = "unknown_app"
        case unknownProduct = "unknown_product"
        case unknownCustomer = "unknown_customer"
        case unknownTransaction = "unknown_transaction"
        case unknownSubscription = "unknown_subscription"
        case unknownOffer = "unknown_offer"
        case unknownEvent = "unknown_event"
        case unknownPayment = "unknown_payment"
        case noReceipt = "no_receipt"
        case alreadyExists = "already_exists"
        case alreadySubscribed = "already_subscribed"
        /// The action is not possible in the present state.
        case wrongState = "wrong_state"
        case notForSale = "not_for_sale"
        case notEligible = "not_eligible"
        case notShareable = "not_shareable"
        /// A value has a format or size that the store does not accept.
        case invalidValue = "invalid_value"
        /// Once something was sold, the clock can only move forward.
        case clockBackwards = "clock_backwards"
        /// The move would cause too many renewals and is refused as a whole.
        case tooManyRenewals = "too_many_renewals"
    }

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
}

/// Refuses a call unless a condition holds.
func require(_ condition: Bool, _ code: StoreError.Code, _ message: @autoclosure () -> String) throws(StoreError) {
    if !condition { throw StoreError(code, message()) }
}

extension StoreError: CustomStringConvertible {
    public var description: String { message }
}

extension UInt8 {
    /// The small letter of a capital one in ASCII, and any other byte unchanged.
    var small: UInt8 { isCapital ? self | 0x20 : self }
    var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

/// The reason why a value cannot be read, in words for the client. Foundation's own descriptions name Swift types.
struct MalformedValue: Error {
    let words: String

    /// The error that a decoder throws for it.
    static func error(_ words: String, at path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: path, debugDescription: words, underlyingError: MalformedValue(words: words)))
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// Reads one of several words. Its error names all of them.
    static func word(from decoder: any Decoder, spelled: (String) -> String = { $0 }) throws -> Self {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let word = Self(rawValue: spelled(text)) else {
            let words = allCases.map(\.rawValue).joined(separator: ", ")
            throw MalformedValue.error(
                "'\(String(String.UnicodeScalarView(text.unicodeScalars.prefix(80))))' is not one of \(words).",
                at: container.codingPath)
        }
        return word
    }
}

/// Words that the simulator is sent. The error of another word names all of them.
protocol Word: RawRepresentable<String>, CaseIterable, Decodable {}

extension Word {
    init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
}
