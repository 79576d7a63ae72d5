import PurchaseVerification

/// The answers of the App Store by which claims are listed.
public enum AppStoreAnswerFilter: String, Sendable, CaseIterable {
    case refused
    case contradicted

    /// The code of such answers.
    var code: DecisionCode {
        switch self {
        case .refused: .appStoreRefused
        case .contradicted: .appStoreContradicts
        }
    }
}
