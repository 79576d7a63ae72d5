/// The states of a request for an extension of a subscription.
public enum ExtensionState: String, Sendable, CaseIterable {
    /// Apple has not answered yet.
    case open
    /// Apple extended the period.
    case extended
    /// Apple refused it.
    case refused
    /// There was no answer in a day, or none to a call after which Apple may have extended the period. A later signed
    /// transaction shows whether it did.
    case unanswered
}
