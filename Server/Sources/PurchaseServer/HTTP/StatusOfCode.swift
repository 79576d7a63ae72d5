package import HTTPTypes
package import PurchaseLedger
import PurchaseVerification

// The HTTP status of every code of the ledger and the core. Each switch names all cases, so a new code does not compile
// before it has a status.
extension HTTPResponse.Status {
    /// The status of a claim's answer.
    package init(_ code: DecisionCode) {
        switch code {
        case .accepted: self = .ok
        case .bodyMalformed, .fieldMissing, .fieldMalformed: self = .badRequest
        case .orderUnknown: self = .notFound
        case .orderOfAnotherCustomer, .orderAlreadyPaid, .orderCancelled, .orderRefunded, .orderEnvironmentMismatch,
            .purchaseOutsideOrder, .alreadyClaimed, .purchaseErased:
            self = .conflict
        case .bodyTooLarge: self = .contentTooLarge
        case .evidenceNotAPurchase, .noPurchases, .transactionNotFound, .productMismatch, .productUnknown,
            .productKindMismatch, .quantityMismatch, .purchaseCancelled, .purchaseRevoked, .purchaseUpgraded,
            .purchaseWithdrawn, .subscriptionExpired, .periodUnknown, .appAccountTokenMismatch, .accountTokenNeeded,
            .signedTransactionNeeded, .purchaseNotPaid, .appStoreRefused, .appStoreContradicts, .appStoreSecretMismatch:
            self = .unprocessableContent
        case .appStorePending, .appStoreUnanswered: self = .serviceUnavailable
        }
    }

    /// The status of evidence that is not genuine, or not of this app: the request could be read, its evidence is
    /// refused.
    init(_ code: ReasonCode) {
        switch code.stage {
        case .form, .authenticity, .content, .policy: self = .unprocessableContent
        }
    }

    /// The status of a refused order, consumption or operator's action.
    package init(_ code: LedgerRefusal.Code) {
        switch code {
        case .fieldMalformed: self = .badRequest
        case .orderUnknown, .customerUnknown, .purchaseUnknown, .grantUnknown, .groundUnknown, .seatUnknown,
            .externalPurchaseUnknown:
            self = .notFound
        case .orderNotPaid, .orderNotCancellable, .orderNotClosable, .orderConsumed, .orderRevoked,
            .orderEnvironmentMismatch, .balanceInsufficient, .tokenTaken, .customerMergeCircular, .mergeTooLarge,
            .purchaseAmbiguous,
            .purchaseNotMovable, .groundDiffers, .seatsNotHosted, .noSeat, .seatUnclaimed, .seatTaken,
            .offerNotForCustomer, .offerExhausted, .cursorAhead, .lineItemConflict:
            self = .conflict
        case .offerUnknown, .offerNotForProduct, .extensionConflict, .productUnknown, .quantityNotSold,
            .consumptionConflict, .idempotencyKeyReused:
            self = .unprocessableContent
        // Refused at the start, before any request is answered, or in an import.
        case .bundleOfAnotherApp, .appNameTooLong, .consumablesUnstated: self = .internalServerError
        }
    }

    /// The status of an error of the database. It is temporary, unless it is a bug in Assay.
    init(_ kind: LedgerStorageError.Kind) {
        switch kind {
        case .constraint, .other: self = .internalServerError
        case .busy, .overloaded, .full, .readOnly, .unavailable, .corrupt, .schemaTooNew, .rulesTooNew,
            .schemaTooOld, .schemaUnknown, .copyUnfinished, .moved, .appMoved, .closed, .conflict,
            .outcomeUnknown:
            self = .serviceUnavailable
        }
    }

    init(_ reason: Rejection.Reason) {
        switch reason {
        case .decision(let code): self.init(code)
        case .verification(let code): self.init(code)
        }
    }
}
