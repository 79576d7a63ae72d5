/// The reason why a request other than a claim was refused. Nothing was written.
public struct LedgerRefusal: Error, Sendable, Equatable {
    /// The stable code.
    public let code: Code
    /// The expected fact.
    public let expected: String?
    /// The fact found instead.
    public let found: String?

    init(_ code: Code, expected: String? = nil, found: String? = nil) {
        self.code = code
        self.expected = expected
        self.found = found
    }

    /// The code, the sentence and the two facts in one line.
    public var line: String {
        let facts = [expected.map { "expected \($0)" }, found.map { "found \($0)" }].compactMap(\.self)
        return "\(code.rawValue): \(code.sentence)" + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")
    }

    /// The reasons for refusing an order, a consumption or an operator's act.
    public enum Code: String, Sendable, CaseIterable {
        case orderUnknown = "order_unknown"
        case orderNotPaid = "order_not_paid"
        case orderNotCancellable = "order_not_cancellable"
        case orderNotClosable = "order_not_closable"
        case orderConsumed = "order_consumed"
        case orderRevoked = "order_revoked"
        case orderEnvironmentMismatch = "order_environment_mismatch"
        case productUnknown = "product_unknown"
        case quantityNotSold = "quantity_not_sold"
        case balanceInsufficient = "balance_insufficient"
        case consumptionConflict = "consumption_conflict"
        case idempotencyKeyReused = "idempotency_key_reused"
        case tokenTaken = "token_taken"
        case customerUnknown = "customer_unknown"
        case customerMergeCircular = "customer_merge_circular"
        case mergeTooLarge = "merge_too_large"
        case purchaseUnknown = "purchase_unknown"
        case purchaseAmbiguous = "purchase_ambiguous"
        case purchaseNotMovable = "purchase_not_movable"
        case grantUnknown = "grant_unknown"
        case groundUnknown = "ground_unknown"
        case groundDiffers = "ground_differs"
        case seatsNotHosted = "seats_not_hosted"
        case noSeat = "no_seat"
        case seatUnknown = "seat_unknown"
        case seatUnclaimed = "seat_unclaimed"
        case seatTaken = "seat_taken"
        case extensionConflict = "extension_conflict"
        /// No external purchase token of the app has this id.
        case externalPurchaseUnknown = "external_purchase_unknown"
        /// A line item was stated otherwise before.
        case lineItemConflict = "line_item_conflict"
        case offerUnknown = "offer_unknown"
        case offerNotForProduct = "offer_not_for_product"
        case offerNotForCustomer = "offer_not_for_customer"
        case offerExhausted = "offer_exhausted"
        case bundleOfAnotherApp = "bundle_of_another_app"
        case appNameTooLong = "app_name_too_long"
        case consumablesUnstated = "consumables_unstated"
        case cursorAhead = "cursor_ahead"
        case fieldMalformed = "field_malformed"

        /// The explanation, as a sentence.
        public var sentence: String {
            switch self {
            case .orderUnknown: "There is no such order."
            case .orderNotPaid: "Only a paid order can be fulfilled."
            case .orderNotCancellable: "Only an unpaid order can be cancelled."
            case .orderNotClosable: "Only a paid order can be closed."
            case .orderConsumed:
                "Part of what the order bought was delivered, consumed or refunded; fulfil the remaining units, or close the order."
            case .productUnknown: "The product is not registered for the app."
            case .quantityNotSold: "The App Store sells one unit of this product at a time; order a quantity of 1."
            case .orderRevoked:
                "An operator revoked the purchase that paid the order; lift the revocation to fulfil the order."
            case .orderEnvironmentMismatch:
                "Purchases of this environment do not count for the customer; see sandbox_access, and make the customer a tester."
            case .balanceInsufficient: "The balance is smaller than the quantity."
            case .consumptionConflict: "The consumption id was used before, with other values."
            case .idempotencyKeyReused: "The idempotency key was used before, for another request."
            case .tokenTaken: "The account token belongs to another customer."
            case .customerUnknown: "There is no such customer."
            case .customerMergeCircular: "The two customers are already merged."
            case .mergeTooLarge:
                "The merge would hold all writes; an operator makes it at a quiet time: assay customers merge --hold-writes."
            case .purchaseUnknown: "There is no such purchase."
            case .purchaseAmbiguous: "There are several purchases of this id; name the environment."
            case .purchaseNotMovable: "The purchase already belongs to the customer."
            case .grantUnknown: "There is no such grant or revocation."
            case .groundUnknown: "There is no such ground."
            case .groundDiffers:
                "The reference has a ground with other values. A later end extends it; for anything else, end it first."
            case .seatsNotHosted:
                "The app's backend does not invite the members of this subscription, so it has no seats to claim."
            case .noSeat: "The subscription has no free seat; unclaim one, or wait until the purchaser adds seats."
            case .seatUnknown: "There is no such seat."
            case .seatUnclaimed: "The seat was unclaimed, and its id is never used again; claim a seat with a new id."
            case .seatTaken: "Another request claimed the seat with this id."
            case .extensionConflict: "The request id was used before, for another extension."
            case .externalPurchaseUnknown:
                "No external purchase token with this id is known; state it with POST /v1/external-purchases."
            case .lineItemConflict: "The line item was stated otherwise before; correct it with restatement: true."
            case .offerUnknown: "The settings of the app do not have this offer; add it below offers."
            case .offerNotForProduct: "The offer is not for this product."
            case .offerNotForCustomer: "The offer is for other customers; see audience in the settings of the offer."
            case .offerExhausted: "The customer got the offer as often as the settings allow."
            case .bundleOfAnotherApp:
                "The bundle id is recorded with another app. Give the app its old name in the settings, or remove the bundle id."
            case .appNameTooLong: "The name of an app has at most 255 bytes."
            case .consumablesUnstated:
                "A receipt does not say whether its consumables were used; say whether the existing system delivered them."
            case .cursorAhead:
                "The cursor is after the last event: the database was restored from a backup. Begin again with an older cursor, and skip events by their entry_id."
            case .fieldMalformed: "A field has the wrong format."
            }
        }
    }
}
