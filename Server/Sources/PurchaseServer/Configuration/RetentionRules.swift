/// What an app answers when Apple asks which message to show to a customer who is about to cancel.
public struct RetentionRules: Sendable, Equatable {
    /// The rules in their order; the first that fits decides.
    package var rules: [RetentionRule] = []

    package init() {}

    /// The rule for a request; `nil` if none fits, so that Apple shows the message that is set by default.
    package func rule(productID: String?, locale: String?) -> RetentionRule? {
        rules.first { $0.fits(productID: productID, locale: locale) }
    }
}
