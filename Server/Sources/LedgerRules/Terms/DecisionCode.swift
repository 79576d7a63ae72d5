public import PurchaseVerification

/// The ledger's decision about a claim. The raw value is a stable contract, the same in the journal, in API answers and
/// in logs. Evidence that is not genuine has the core's code instead (`ReasonCode`).
public enum DecisionCode: String, Sendable, CaseIterable {
    case accepted

    // MARK: The request

    case bodyMalformed = "body_malformed"
    case bodyTooLarge = "body_too_large"
    case fieldMissing = "field_missing"
    case fieldMalformed = "field_malformed"

    // MARK: The evidence and the claim

    case evidenceNotAPurchase = "evidence_not_a_purchase"
    case noPurchases = "no_purchases"
    case transactionNotFound = "transaction_not_found"
    case productMismatch = "product_mismatch"
    case productUnknown = "product_unknown"
    case productKindMismatch = "product_kind_mismatch"
    case quantityMismatch = "quantity_mismatch"
    case purchaseCancelled = "purchase_cancelled"
    case purchaseRevoked = "purchase_revoked"
    case purchaseUpgraded = "purchase_upgraded"
    case purchaseWithdrawn = "purchase_withdrawn"
    case subscriptionExpired = "subscription_expired"
    case periodUnknown = "period_unknown"
    case appAccountTokenMismatch = "app_account_token_mismatch"
    case accountTokenNeeded = "account_token_needed"
    case signedTransactionNeeded = "signed_transaction_needed"
    case purchaseNotPaid = "purchase_not_paid"

    // MARK: The order and the owner

    case orderUnknown = "order_unknown"
    case orderOfAnotherCustomer = "order_of_another_customer"
    case orderAlreadyPaid = "order_already_paid"
    case orderCancelled = "order_cancelled"
    case orderRefunded = "order_refunded"
    case orderEnvironmentMismatch = "order_environment_mismatch"
    case purchaseOutsideOrder = "purchase_outside_order"
    case alreadyClaimed = "already_claimed"
    case purchaseErased = "purchase_erased"

    // MARK: The App Store's answer (docs/ask-apple.md)

    /// The claim waits for the App Store's answer. Nothing was decided.
    case appStorePending = "app_store_pending"
    /// The App Store gave no answer while the claim waited. Nothing was decided.
    case appStoreUnanswered = "app_store_unanswered"
    case appStoreRefused = "app_store_refused"
    case appStoreContradicts = "app_store_contradicts"
    case appStoreSecretMismatch = "app_store_secret_mismatch"

    /// Whether a claim with this outcome changes nothing: its evidence is stored, and is not observed.
    package var isWithoutEffect: Bool {
        switch self {
        case .appStorePending, .appStoreUnanswered, .appStoreRefused, .appStoreContradicts, .appStoreSecretMismatch:
            true
        default: false
        }
    }

    /// Whether the claim can still be decided.
    package var isUndetermined: Bool { self == .appStorePending || self == .appStoreUnanswered }

    /// The explanation, as a sentence.
    public var sentence: String {
        switch self {
        case .accepted: "The purchase is genuine and was granted."
        case .bodyMalformed: "The body is not a JSON object."
        case .bodyTooLarge: "The body is larger than the server accepts."
        case .fieldMissing: "A required field is missing or empty."
        case .fieldMalformed: "A field has the wrong format."
        case .evidenceNotAPurchase: "The evidence is genuine, but proves no purchase."
        case .noPurchases: "The receipt is genuine, but contains no purchase."
        case .transactionNotFound: "The evidence does not contain the transaction; refresh it and try again."
        case .productMismatch: "The transaction is for another product."
        case .productUnknown: "The product is not registered for the app; add it to the settings."
        case .productKindMismatch: "Signed data states another kind of product than the settings; correct the settings."
        case .quantityMismatch: "The quantity differs from the one that was bought."
        case .purchaseCancelled: "The App Store cancelled the purchase."
        case .purchaseRevoked: "The App Store refunded or revoked the purchase."
        case .purchaseUpgraded: "An upgrade replaced the subscription."
        case .purchaseWithdrawn:
            "Newer evidence shows that the purchase was refunded or revoked, or an operator revoked it."
        case .subscriptionExpired: "The paid period has ended."
        case .periodUnknown: "No evidence states when the paid period ends; send newer evidence."
        case .appAccountTokenMismatch: "The purchase carries the account token of another customer."
        case .accountTokenNeeded:
            "The app requires an account token of the customer; send a signed transaction that carries one."
        case .signedTransactionNeeded: "The app requires a signed transaction; send it instead of the receipt."
        case .purchaseNotPaid: "A shared or restored purchase was not paid for, so it cannot pay an order."
        case .orderUnknown: "There is no such order."
        case .orderOfAnotherCustomer: "The order belongs to another customer."
        case .orderAlreadyPaid: "Another transaction paid the order."
        case .orderCancelled: "The order was cancelled."
        case .orderRefunded: "The order was refunded."
        case .orderEnvironmentMismatch: "The order is for purchases of another environment."
        case .purchaseOutsideOrder: "The purchase was not made during the life of the order."
        case .alreadyClaimed: "The purchase was claimed before."
        case .purchaseErased: "The purchase belonged to a customer whose data was erased, and stays claimed."
        case .appStorePending: "The App Store has not answered yet; the claim is kept and waits. Send it again later."
        case .appStoreUnanswered: "The App Store did not answer in time, and the claim no longer waits; send it again."
        case .appStoreRefused: "The App Store refuses the receipt."
        case .appStoreContradicts: "The App Store's reply and the receipt contradict each other; look at both."
        case .appStoreSecretMismatch:
            "The App Store refuses the shared secret; correct shared_secret_file of the app, and send the claim again."
        }
    }

    /// The instruction to the app about its transaction. For a code about the order alone, it depends on whether the
    /// customer has the purchase.
    ///
    /// - Parameter hasPurchase: whether the customer owns the purchase and Apple did not withdraw it.
    public func disposition(hasPurchase: Bool) -> Disposition {
        switch self {
        case .accepted: .granted
        case .bodyMalformed, .bodyTooLarge, .fieldMissing, .fieldMalformed, .productUnknown, .productKindMismatch:
            .operator
        case .transactionNotFound, .accountTokenNeeded, .signedTransactionNeeded, .appStorePending, .appStoreUnanswered,
            .periodUnknown:
            .retry
        // A person has to look at a purchase that the App Store contradicts.
        case .appStoreContradicts, .appStoreSecretMismatch: .operator
        case .orderAlreadyPaid, .orderCancelled, .orderRefunded, .orderEnvironmentMismatch, .purchaseOutsideOrder,
            .purchaseNotPaid:
            hasPurchase ? .granted : .refused
        // The request named a wrong order, product or quantity. The transaction itself is valid, so it must not be
        // finished.
        case .orderUnknown, .orderOfAnotherCustomer, .productMismatch, .quantityMismatch: .operator
        case .evidenceNotAPurchase, .noPurchases: .retry
        case .purchaseCancelled, .purchaseRevoked, .purchaseUpgraded, .purchaseWithdrawn, .subscriptionExpired,
            .appAccountTokenMismatch, .alreadyClaimed, .purchaseErased, .appStoreRefused:
            .refused
        }
    }
}

extension ReasonCode {
    /// The instruction to the app about its transaction. Only a proof finishes it: what could not be read may be a
    /// damaged copy of a genuine purchase.
    public var disposition: Disposition {
        switch conclusion {
        case .unread: .retry
        case .forged, .worthless: .refused
        case .notAccepted: .operator
        }
    }
}

/// The instruction to an app about its transaction.
public enum Disposition: String, Sendable, CaseIterable {
    /// Finish it: the customer has the purchase.
    case granted
    /// Finish it: it is worthless to this customer.
    case refused
    /// Do not finish it; try again later.
    case retry
    /// Do not finish it: a setting or a key on the server's side is wrong.
    case `operator`
}

/// The reason why a claim is rejected: a code of the ledger or of the core, and the two facts that disagree.
public struct Rejection: Error, Sendable, Equatable {
    /// The origin of the code.
    public var reason: Reason
    /// The expected fact.
    public var expected: String?
    /// The fact found instead.
    public var found: String?
    /// Whether only the order is refused; the customer can still have the purchase.
    var isAboutOrder = false

    /// A code of the ledger, or of the core.
    public enum Reason: Sendable, Equatable {
        case decision(DecisionCode)
        case verification(ReasonCode)
    }

    /// A rejection by the ledger.
    public init(_ code: DecisionCode, expected: String? = nil, found: String? = nil) {
        reason = .decision(code)
        self.expected = expected
        self.found = found
    }

    /// A rejection by the core.
    public init(_ error: VerificationError) {
        reason = .verification(error.code)
        expected = error.expected
        found = error.found
    }

    /// A recorded rejection by the core.
    package init(_ code: ReasonCode, expected: String?, found: String?) {
        reason = .verification(code)
        self.expected = expected
        self.found = found
    }

    /// The purchase was claimed already.
    package static func alreadyClaimed(_ prior: PriorClaim) -> Rejection {
        Rejection(.alreadyClaimed, found: prior.rawValue)
    }

    /// The same rejection of the order alone.
    var aboutOrder: Rejection {
        var rejection = self
        rejection.isAboutOrder = true
        return rejection
    }

    /// Whether the claim can still be decided.
    package var isUndetermined: Bool {
        if case .decision(let code) = reason { code.isUndetermined } else { false }
    }

    /// Whether a claim with this outcome changes nothing.
    package var isWithoutEffect: Bool {
        if case .decision(let code) = reason { code.isWithoutEffect } else { false }
    }

    /// The holder of the earlier claim, if that is the reason.
    package var priorClaim: PriorClaim? {
        guard reason == .decision(.alreadyClaimed) else { return nil }
        return found.flatMap(PriorClaim.init(rawValue:))
    }

    /// The stable code.
    public var code: String {
        switch reason {
        case .decision(let code): code.rawValue
        case .verification(let code): code.rawValue
        }
    }

    /// The explanation, as a sentence.
    public var sentence: String {
        switch reason {
        case .decision(let code): code.sentence
        case .verification(let code): code.sentence
        }
    }

    /// The instruction to the app about its transaction.
    public func disposition(hasPurchase: Bool) -> Disposition {
        if isAboutOrder, hasPurchase { return .granted }
        return switch reason {
        case .decision(let code): code.disposition(hasPurchase: hasPurchase)
        case .verification(let code): code.disposition
        }
    }
}

/// The holder of an earlier claim.
public enum PriorClaim: String, Sendable, CaseIterable {
    case anotherCustomer = "another_customer"
    case anotherOrder = "another_order"
    case restoredCopy = "restored_copy"
}
