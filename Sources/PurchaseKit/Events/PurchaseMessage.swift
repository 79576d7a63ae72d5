import Foundation

extension PurchaseOutcome {
    /// A sentence for the customer, from the String Catalog of the package; `nil` if nothing need be said. Programs
    /// look at the case and at the error's code.
    public var message: String? {
        switch self {
        case .granted: PurchaseMessage.text("granted", "Thank you! Your purchase is ready.")
        case .notCounted: PurchaseMessage.text("not_counted", "This purchase cannot be used with this account.")
        case .refused: PurchaseMessage.text("refused", "This purchase cannot be used.")
        case .invalid: PurchaseMessage.text("invalid", "This purchase could not be verified.")
        case .undetermined:
            PurchaseMessage.text(
                "undetermined", "Your payment arrived. The purchase will be ready as soon as it is verified.")
        case .pending: PurchaseMessage.text("pending", "Your purchase will be ready when it is approved.")
        case .cancelled: nil
        case .failed: PurchaseMessage.text("failed", "The purchase did not take place.")
        }
    }
}

/// Texts for people.
enum PurchaseMessage {
    /// The text in the customer's language; English where there is no catalog.
    static func text(_ key: String, _ english: String) -> String {
        Bundle.module.localizedString(forKey: key, value: english, table: nil)
    }
}
