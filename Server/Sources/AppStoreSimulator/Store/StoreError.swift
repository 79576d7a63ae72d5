/// The reasons why the store refuses a call.
public struct StoreError: Error, Hashable, Sendable {
    /// The stable code.
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
        /// The device has no receipt.
        case noReceipt = "no_receipt"
        /// The identifier already exists.
        case alreadyExists = "already_exists"
        /// The customer has this subscription already.
        case alreadySubscribed = "already_subscribed"
        /// The action is not possible in the present state.
        case wrongState = "wrong_state"
        /// The product is not for sale.
        case notForSale = "not_for_sale"
        /// The customer is not eligible for the offer.
        case notEligible = "not_eligible"
        /// The product cannot be shared with a family.
        case notShareable = "not_shareable"
        /// A value has a format or size that the store does not accept.
        case invalidValue = "invalid_value"
        /// Once something was sold, the clock can only move forward.
        case clockBackwards = "clock_backwards"
        /// The move would cause too many renewals and is refused as a whole.
        case tooManyRenewals = "too_many_renewals"
    }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension StoreError: CustomStringConvertible {
    /// The reason in words.
    public var description: String { message }
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
