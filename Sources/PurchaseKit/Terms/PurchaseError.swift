public import Foundation
public import PurchaseMessages
public import PurchaseVerification

/// The reason why a purchase was refused, or could not be verified now.
///
/// The code is the contract: one of the kit's own, a code of the core (`ReasonCode`), or a code of the server.
/// `expected` and `found` are the two facts that disagreed.
public struct PurchaseError: Error, Sendable, Codable, Equatable {
    public var code: Code
    public var expected: String?
    public var found: String?
    /// A sentence for people.
    public var detail: String?
    /// The error of the system behind it, such as StoreKit's.
    public var cause: Cause?

    /// An error of the system, by its domain and code.
    public struct Cause: Sendable, Codable, Equatable {
        public var domain: String
        public var code: Int

        public init(domain: String, code: Int) { (self.domain, self.code) = (domain, code) }
    }

    public init(_ code: Code, expected: String? = nil, found: String? = nil, detail: String? = nil) {
        (self.code, self.expected, self.found) = (code, expected, found)
        self.detail = detail ?? code.sentence
    }

    public init(_ error: VerificationError) {
        self.init(
            Code(rawValue: error.code.rawValue), expected: error.expected, found: error.found,
            detail: error.code.sentence)
    }

    /// An error from outside, whose description becomes the found fact. An error of the kit stays as it is.
    public init(_ code: Code, _ error: any Error) {
        if let error = error as? PurchaseError {
            self = error
        } else {
            self.init(code, found: String(describing: error))
            let system = error as NSError
            cause = Cause(domain: system.domain, code: system.code)
        }
    }

    /// Whether it says that the customer cancelled the payment: `SKError.paymentCancelled`.
    var isCancellation: Bool {
        code == .paymentCancelled || cause == Cause(domain: "SKErrorDomain", code: 2)
    }

    /// Whether it says that the customer was not asked to pay: the queue failed before, or StoreKit refused the
    /// payment: `clientInvalid`, `paymentInvalid`, `paymentNotAllowed`, `storeProductNotAvailable`, and the offers that
    /// it does not accept (`invalidOfferIdentifier` to `ineligibleForOffer`) of `SKError`.
    var isBeforePayment: Bool {
        guard code != .queueFailed, let cause, cause.domain == "SKErrorDomain" else { return code == .queueFailed }
        return [1, 3, 4, 5, 11, 12, 13, 14, 18].contains(cause.code)
    }
}

extension PurchaseError: CustomStringConvertible, LocalizedError {
    public var description: String {
        "\(code.rawValue): \(detail ?? "")" + (expected.map { " Expected \($0)." } ?? "")
            + (found.map { " Found \($0)." } ?? "")
    }

    public var errorDescription: String? { description }
}

extension PurchaseError {
    /// A code of the kit, of the core or of the server. `detail` says what it means.
    public struct Code: WireEnumeration {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        // On the device.
        public static let receiptMissing = Code(rawValue: "receipt_missing")
        public static let transactionNotInEvidence = Code(rawValue: "transaction_not_in_evidence")
        public static let productMismatch = Code(rawValue: "product_mismatch")
        public static let deviceUnknown = Code(rawValue: "device_unknown")
        public static let refreshFailed = Code(rawValue: "refresh_failed")
        public static let evidenceMissing = Code(rawValue: "evidence_missing")
        public static let unverified = Code(rawValue: "unverified_by_store_kit")
        public static let purchaseRevoked = Code(rawValue: "purchase_revoked")
        public static let purchaseUpgraded = Code(rawValue: "purchase_upgraded")
        public static let customerUnknown = Code(rawValue: "customer_unknown")

        // Of the server's answer.
        public static let notCounted = Code(rawValue: "not_counted")

        // On the way to the server.
        public static let accountTokenNeeded = Code(rawValue: "account_token_needed")
        public static let ownedByAnother = Code(rawValue: "owned_by_another")
        public static let fieldMissing = Code(rawValue: "field_missing")
        public static let requestNotSerialised = Code(rawValue: "request_not_serialised")
        public static let connectionFailed = Code(rawValue: "connection_failed")
        public static let answerTooLarge = Code(rawValue: "answer_too_large")
        public static let answerUnsigned = Code(rawValue: "answer_unsigned")
        public static let answerKeyUnknown = Code(rawValue: "answer_key_unknown")
        public static let answerNonceMismatch = Code(rawValue: "answer_nonce_mismatch")
        public static let answerDigestMismatch = Code(rawValue: "answer_digest_mismatch")
        public static let answerSignatureInvalid = Code(rawValue: "answer_signature_invalid")
        public static let answerMalformed = Code(rawValue: "answer_malformed")
        public static let answerMismatch = Code(rawValue: "answer_mismatch")

        // Outside.
        public static let storeDamaged = Code(rawValue: "store_damaged")
        public static let storeNewer = Code(rawValue: "store_newer")
        public static let storeFailed = Code(rawValue: "store_failed")
        public static let queueFailed = Code(rawValue: "queue_failed")
        public static let paymentFailed = Code(rawValue: "payment_failed")
        public static let paymentCancelled = Code(rawValue: "payment_cancelled")
        public static let transactionUnknown = Code(rawValue: "transaction_unknown")
        public static let balanceInsufficient = Code(rawValue: "balance_insufficient")

        public static let consumedByServer = Code(rawValue: "consumed_by_server")

        /// The meaning of the kit's own codes, in a sentence.
        var sentence: String? { Self.sentences[self] }

        private static let sentences: [Code: String] = [
            .receiptMissing: "The device has no app receipt; refresh it.",
            .transactionNotInEvidence: "The evidence does not contain the transaction; refresh it.",
            .productMismatch: "The evidence states another product for the transaction.",
            .deviceUnknown: "The system does not return the device identifier; try again after the first unlock.",
            .refreshFailed: "The receipt could not be refreshed.",
            .evidenceMissing:
                "The transaction has no evidence: no signed transaction, no app receipt, no transaction receipt.",
            .unverified: "StoreKit did not verify the transaction, and there is no server to decide.",
            .purchaseRevoked: "The App Store refunded or revoked the purchase.",
            .purchaseUpgraded: "An upgrade replaced the subscription.",
            .customerUnknown: "No customer is signed in to receive the purchase; call signIn.",
            .accountTokenNeeded:
                "The server asks for account tokens that it knows; sign in a customer with theirs, or sell an order.",
            .ownedByAnother: "Another customer has the purchase.",
            .fieldMissing: "A field of the request is empty.",
            .requestNotSerialised: "The request cannot be encoded as JSON.",
            .connectionFailed: "The server did not answer.",
            .answerTooLarge: "The answer is larger than any answer of the server.",
            .answerUnsigned: "The answer does not have the server's signature; a proxy may have written it.",
            .answerKeyUnknown: "The answer is signed with a key that this app does not pin.",
            .answerNonceMismatch: "The answer belongs to another request.",
            .answerDigestMismatch: "The content of the answer was changed on the way.",
            .answerSignatureInvalid: "The signature does not match the answer and this request.",
            .answerMalformed: "The signed answer has the wrong format.",
            .answerMismatch: "The signed answer is for another transaction, product or customer.",
            .storeDamaged: "The stored purchases are damaged or were changed by another program.",
            .storeNewer: "A later version of the app stored the purchases, which stay as they are; update the app.",
            .storeFailed: "The stored purchases cannot be read or written.",
            .queueFailed: "The payment queue failed.",
            .paymentFailed: "The payment failed.",
            .paymentCancelled: "The customer cancelled the payment.",
            .transactionUnknown: "Neither the queue nor the outbox has this transaction.",
            .notCounted: "The server accepted the purchase, and it gives this customer nothing.",
            .balanceInsufficient: "The balance is smaller than the quantity.",
            .consumedByServer: "The server counts the units; let the app's backend consume them.",
        ]
    }
}
