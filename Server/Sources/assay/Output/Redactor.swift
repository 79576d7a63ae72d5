import PurchaseVerification

/// Hides what identifies a person, and gives each hidden identifier a number of its own, so that a reader still sees which
/// purchases belong together.
final class Redactor {
    private let isActive: Bool
    private var numbers: [String: Int] = [:]

    init(isActive: Bool) {
        self.isActive = isActive
    }

    /// The keys of transaction receipts and the claims of signed data that identify somebody.
    static let identifyingClaims: Set<String> = {
        let names = [
            "transactionId", "originalTransactionId", "webOrderLineItemId", "appAccountToken", "appTransactionId",
            "deviceVerification", "deviceVerificationNonce", "signedTransactionInfo", "signedRenewalInfo",
            "signedAppTransactionInfo", "externalPurchaseId",
        ]
        return Set(
            names + names.flatMap { ["data.\($0)", "appData.\($0)", "externalPurchaseToken.\($0)"] }
                + [
                    "transaction-id", "original-transaction-id", "web-order-line-item-id", "unique-identifier",
                    "unique-vendor-identifier",
                ])
    }()

    /// An identifier of a person, a device or a purchase.
    func identifier(_ text: String) -> String {
        guard isActive else { return text }
        let number = numbers[text] ?? numbers.count + 1
        numbers[text] = number
        return "redacted-\(number)"
    }

    /// The value of an attribute, hidden where the attribute identifies somebody: 4 to 7 hold device and account data, 15 is
    /// one download; 1703, 1705 and 1711 number transactions and orders. What an unknown attribute holds nobody knows, nor
    /// what stands in one that is always empty.
    func value(of attribute: ReceiptAttribute, _ text: String) -> String {
        switch attribute.type {
        case 4, 5, 6, 7, 15, 1703, 1705, 1711: identifier(text)
        case 20, 1709, 1714...1718: attribute.content == .text("") ? text : identifier(text)
        default: ReceiptAttributeName.known[attribute.type] == nil ? identifier(text) : text
        }
    }
}
