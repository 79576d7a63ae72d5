import EvidenceMint
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

/// The meaning of each attribute of an app receipt, in words (docs/receipt-format.md).
enum ReceiptAttributeName {
    /// The attributes whose place in a receipt is known, by type.
    static let known: [Int64: String] = [
        0: "receipt type",
        1: "App Store number of the app",
        2: "bundle id",
        3: "app version",
        4: "opaque value",
        5: "device hash",
        6: "encrypted",
        7: "encrypted",
        8: "creation date of the receipt that was sent",
        9: "version of the writer",
        10: "age rating",
        11: "seller number",
        12: "creation date",
        13: "client version (probably)",
        14: "meaning unknown",
        15: "download number",
        16: "App Store number of the app version",
        17: "purchase",
        18: "original purchase date of the app",
        19: "original version of the app",
        20: "always empty",
        21: "expiration date",
        25: "store (3 iOS, 2 Mac)",
        1701: "quantity",
        1702: "product id",
        1703: "transaction id",
        1704: "purchase date",
        1705: "original transaction id",
        1706: "original purchase date",
        1707: "product type",
        1708: "expires date",
        1709: "always empty",
        1710: "App Store number of the product",
        1711: "order line of the subscription period",
        1712: "cancellation date",
        1713: "trial period",
        1714: "always empty",
        1715: "always empty",
        1716: "always empty",
        1717: "always empty",
        1718: "always empty",
        1719: "introductory price",
        1720: "reason of the cancellation (probably)",
        1721: "promotional offer",
        1722: "ownership",
    ]

    static func name(_ type: Int64) -> String { known[type] ?? "not known" }

    /// The value in words, if a number has a meaning.
    static func meaning(_ type: Int64, _ number: UInt64) -> String? {
        switch (type, number) {
        case (9, _): fourCharacters(number)
        case (25, 2): "Mac"
        case (25, 3): "iOS"
        case (1707, 0): "non-consumable"
        case (1707, 1): "consumable"
        case (1707, 2): "non-renewing subscription"
        case (1707, 3): "auto-renewable subscription"
        case (1707, 4): "free subscription"
        case (1713, 0), (1719, 0): "no"
        case (1713, 1), (1719, 1): "yes"
        case (1722, 0): "purchased"
        case (1722, 1): "family shared"
        default: nil
        }
    }

    private static func fourCharacters(_ number: UInt64) -> String? {
        let bytes = (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        guard number >> 32 == 0, bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
