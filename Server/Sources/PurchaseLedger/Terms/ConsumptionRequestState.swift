/// The states of Apple's question about the use of a purchase.
public enum ConsumptionRequestState: String, Sendable, CaseIterable {
    case open
    /// Apple has the answer.
    case sent
    /// The server does not answer it.
    case declined
    /// Apple decided about the refund before there was an answer.
    case closed
    /// The deadline passed without an answer. It is never stored, because it depends on the time.
    case expired
}
