import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

// The ledger's reasons in words for people who answer customers.

extension NoAccessReason {
    /// What is the case, and what to do.
    var explanation: (sentence: String, action: String) {
        switch self {
        case .expired:
            (
                "The paid time has ended.",
                "The customer can subscribe again. If Apple charged for a later period, ask "
                    + "them to use Restore Purchases in the app."
            )
        case .billingRetry:
            (
                "The paid time has ended, and Apple still tries to collect the next price.",
                "The customer has to correct the payment method in the settings of their Apple account."
            )
        case .newsMissing:
            (
                "The paid time has ended, and no news about a renewal arrived.",
                "Ask the customer to open the app and use Restore Purchases."
            )
        case .inGrace:
            (
                "Apple gives a grace period while it tries to collect the next price.",
                "The customer has access. They should correct the payment method in their Apple account."
            )
        case .familyRevoked:
            (
                "The purchase is no longer shared with this member of the family.",
                "The buyer of the family can share it again."
            )
        case .revoked:
            ("Apple refunded or revoked the purchase.", "The customer got the money back and can buy again.")
        case .cancelled:
            ("Apple cancelled the purchase.", "The customer got the money back and can buy again.")
        case .upgraded:
            ("The customer upgraded to another product.", "Look at the other product of the subscription.")
        case .superseded:
            ("A later period with another product has replaced it.", "Look at the other product of the subscription.")
        case .consumed: ("All units were used.", "Look at the events below: they say when units were used.")
        case .notStarted: ("The purchase begins later.", "Nothing is to be done before the start.")
        case .held:
            ("The purchase has no owner yet.", "Transfer it to the customer, after they showed that it is theirs.")
        case .ownedByAnother:
            (
                "The purchase belongs to another customer.",
                "Ask which account the customer uses. If both are theirs, transfer the purchase or merge the customers."
            )
        case .revokedByHand:
            ("An operator revoked it.", "Read the reason below; lift the revocation if it no longer applies.")
        case .sandboxNotAccepted:
            ("Sandbox purchases do not count for this customer.", "Add a tester to the testers of the app.")
        case .noSeat:
            ("All seats of the subscription are taken.", "The administrator of the seats has to free or buy one.")
        case .seatUnclaimed: ("The seat of the customer ended.", "The administrator of the seats can give another.")
        case .productUnknown:
            ("The product is not registered in the settings.", "A developer has to add the product to the settings.")
        case .productKindMismatch:
            ("Apple states another kind of product than the settings.", "A developer has to correct the settings.")
        case .periodUnknown:
            ("No evidence states the end of the period.", "Ask the customer to open the app and use Restore Purchases.")
        }
    }
}

extension SubmissionMessage {
    /// The sentence of the code of a claim.
    var sentence: String {
        DecisionCode(rawValue: code)?.sentence ?? ReasonCode(rawValue: code)?.sentence ?? code
    }

    /// What to do after a claim with this code.
    var action: String {
        switch DecisionCode(rawValue: code)?.disposition(hasPurchase: false) ?? ReasonCode(rawValue: code)?.disposition
        {
        case .granted: "Nothing: the customer has the purchase."
        case .refused: "The refusal is final. Read the sentence to the customer."
        case .retry: "Ask the customer to open the app again and use Restore Purchases."
        default: "Give the number of the claim to a developer: the request or the settings are wrong."
        }
    }
}

extension RecordedPurchase {
    /// What is the case with a purchase that nobody owns.
    var heldSentence: String {
        let what =
            withdrawal.map { "Apple says that it was paid, and withdrew it on \($0.date)" }
            ?? (isFamilyShared ? "Apple says that it is shared with a family" : "Apple says that it was paid")
        return "\(what); nobody claimed it yet."
            + (environment == .production ? "" : " It is of \(environment.name), where nobody pays money.")
    }

    /// What to do about a purchase that nobody owns.
    var advice: String {
        withdrawal == nil
            ? "Give it to the customer on its page, after they showed that it is theirs, such as by Apple's mail."
            : "There is nothing to give: Apple took it back."
    }
}

extension CustomerOffer.Reason {
    var sentence: String {
        switch self {
        case .neverSubscribed: "The customer never had a subscription of the group."
        case .subscribed: "The customer has a subscription of the group."
        case .formerSubscriber: "The customer had a subscription of the group, and has none now."
        case .introductoryOfferUsed: "The customer had an introductory offer of the group."
        case .signed: "Apple signed that the customer may have it."
        case .notForCustomer: "The settings give it to others."
        case .exhausted: "The customer got it as often as the settings allow."
        }
    }
}
