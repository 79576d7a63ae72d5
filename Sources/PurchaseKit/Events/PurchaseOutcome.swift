import Foundation

public enum PurchaseOutcome: Sendable, Equatable {
    /// Stored and finished. `isReplayed` if it was granted before.
    case granted(GrantedPurchase, isReplayed: Bool)
    /// Finished, and the customer may use nothing: the server's entitlement is not active. The code is its reason.
    case notCounted(PurchaseError)
    /// Finished without granting anything: a signed answer of the server refused it, or Apple revoked it.
    case refused(PurchaseError)
    /// Its signature is wrong, and there is no server to decide. Nothing is granted, and it is not finished.
    case invalid(PurchaseError)
    /// Not finished; it is tried again.
    case undetermined(PurchaseError)
    /// It waits for the customer, an approval or the bank.
    case pending
    /// The original API's queue brings the outcome; nothing is known yet.
    case queued
    case cancelled
    case failed(PurchaseError)

    /// Whether the customer has the purchase.
    public var isGranted: Bool {
        if case .granted = self { true } else { false }
    }

    public var code: String {
        switch self {
        case .granted: "granted"
        case .notCounted(let error), .refused(let error), .invalid(let error), .undetermined(let error),
            .failed(let error):
            error.code.rawValue
        case .pending: "pending"
        case .queued: "queued"
        case .cancelled: "cancelled"
        }
    }
}

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
        case .cancelled, .queued: nil
        case .failed: PurchaseMessage.text("failed", "The purchase did not take place.")
        }
    }
}

extension RestoreSummary {
    /// A sentence for the customer about what a restore found; `nil` if they cancelled it.
    public var message: String? {
        if let error {
            guard !error.isCancellation else { return nil }
            return PurchaseMessage.text("restore_failed", "Your purchases could not be restored. Try again later.")
        }
        if !granted.isEmpty { return PurchaseMessage.text("restore_granted", "Your purchases are restored.") }
        if !undetermined.isEmpty {
            return PurchaseMessage.text("restore_waits", "Your purchases will be ready as soon as they are verified.")
        }
        if refused.values.contains(where: { Self.isOfAnother($0.code.rawValue) }) {
            return PurchaseMessage.text("restore_other", "Your purchases belong to another account of this app.")
        }
        return PurchaseMessage.text("restore_nothing", "There is nothing to restore for this Apple Account.")
    }

    private static func isOfAnother(_ code: String) -> Bool {
        ["already_claimed", "app_account_token_mismatch", "owned_by_another"].contains(code)
    }
}

enum PurchaseMessage {
    /// The text in the customer's language; English where there is no catalog.
    static func text(_ key: String, _ english: String) -> String {
        Bundle.module.localizedString(forKey: key, value: english, table: nil)
    }
}
