import PurchaseVerification

/// Hides personal data, and gives each hidden identifier a number, so that a reader still sees which purchases belong
/// together.
final class Redactor {
    private let isActive: Bool
    /// By the bytes of the identifier: evidence chooses it, and a `String` is hashed in its normal form.
    private var numbers: [[UInt8]: Int] = [:]

    init(isActive: Bool) {
        self.isActive = isActive
    }

    /// The keys of transaction receipts and the claims of signed data that identify a person.
    private static let identifyingClaims: Set<[UInt8]> = {
        let names = [
            "transactionId", "originalTransactionId", "webOrderLineItemId", "appAccountToken", "appTransactionId",
            "deviceVerification", "deviceVerificationNonce", "signedTransactionInfo", "signedRenewalInfo",
            "signedAppTransactionInfo", "externalPurchaseId",
        ]
        return Set(
            (names + names.flatMap { ["data.\($0)", "appData.\($0)", "externalPurchaseToken.\($0)"] }
                + [
                    "transaction-id", "original-transaction-id", "web-order-line-item-id", "unique-identifier",
                    "unique-vendor-identifier",
                ]).map { Array($0.utf8) })
    }()

    /// The value of a key of a transaction receipt or of a claim, hidden if it identifies a person.
    func value(of claim: (name: [UInt8], value: String)) -> String {
        Self.identifyingClaims.contains(claim.name) ? identifier(claim.value) : claim.value
    }

    /// An identifier of a person, a device or a purchase.
    func identifier(_ text: String) -> String {
        guard isActive else { return text }
        let key = Array(text.utf8)
        let number = numbers[key] ?? numbers.count + 1
        numbers[key] = number
        return "redacted-\(number)"
    }

    /// The value of an attribute, hidden if the attribute identifies a person: 4 to 7 hold device and account data, 15
    /// is one download; 1703, 1705 and 1711 number transactions and orders. Unknown attributes, and those that are
    /// always empty, are hidden as well, because their content is unknown.
    func value(of attribute: ReceiptAttribute, _ text: String) -> String {
        switch attribute.type {
        case 4, 5, 6, 7, 15, 1703, 1705, 1711: identifier(text)
        case 20, 1709, 1714...1718: attribute.isEmptyText ? text : identifier(text)
        default: ReceiptAttributeName.known[attribute.type] == nil ? identifier(text) : text
        }
    }
}

extension ReceiptAttribute {
    fileprivate var isEmptyText: Bool {
        if case .text(let text) = content { text.isEmpty } else { false }
    }
}
