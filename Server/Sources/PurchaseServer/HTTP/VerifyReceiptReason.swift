import Foundation
import PurchaseAPI
package import PurchaseVerification

/// The reason why the status of an answer is not 0, sent in the header `Assay-Reason`.
package enum VerifyReceiptReason: Sendable {
    case verification(VerificationError)
    case notPosted
    case notJSON
    case wrongEndpoint
    case secretMismatch
    case tooManyRequests(retryAfter: Int)
    case tooManyWrongSecrets(retryAfter: Int)
    case expired
    case erased
    case bodyTooLarge
    case requestIncomplete
    case serverBusy

    /// The stable code.
    package var code: String {
        switch self {
        case .verification(let error): error.code.rawValue
        case .notPosted: "not_posted"
        case .notJSON: "not_json"
        case .wrongEndpoint: "environment_mismatch"
        case .secretMismatch: "shared_secret_mismatch"
        case .tooManyRequests, .tooManyWrongSecrets: "rate_limited"
        case .expired: "subscription_expired"
        case .erased: "purchase_erased"
        case .bodyTooLarge: "evidence_too_large"
        case .requestIncomplete: "request_incomplete"
        case .serverBusy: "server_busy"
        }
    }
}
