/// What the store makes of the answer of a realtime URL.
struct RetentionOutcome: Encodable, Sendable {
    /// The HTTP status; nil without an answer.
    var status: Int?
    /// The time until the answer was complete, in real time.
    var milliseconds = 0
    /// What is shown: `message`, `alternateProduct`, `promotionalOffer` or `advancedCommerceInfo`; nil if the customer
    /// sees the default message.
    var shown: String?
    /// The answer; nil if it is no text.
    var answer: String?
    /// Why nothing is shown, in words.
    var problem: String?
}
