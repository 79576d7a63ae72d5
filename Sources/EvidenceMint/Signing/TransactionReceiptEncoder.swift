import Foundation

/// Signs transaction receipts (iOS 6) with an authority, and applies faults on demand.
///
/// ```swift
/// let encoder = TransactionReceiptEncoder(authority: try AppStoreAuthority())
/// let coins = PurchaseTemplate.consumable(productID: "coins", transactionID: "1000", purchaseDate: .now)
/// let receipt = TransactionReceiptTemplate(purchase: coins, bundleID: "com.example.app")
/// let genuine = try encoder.encodeBase64(receipt, version: .three)
/// let forged = try encoder.encodeBase64(receipt, version: .three, fault: .editedPurchaseInfo)
/// ```
public struct TransactionReceiptEncoder: Sendable {
    /// The authority that signs.
    public let authority: AppStoreAuthority

    /// An encoder for one authority.
    public init(authority: AppStoreAuthority) {
        self.authority = authority
    }

    /// Signs a receipt. The same parameters make the same bytes; only a fault that needs other keys draws new ones in
    /// each process.
    /// - Parameters:
    ///   - template: the content.
    ///   - version: how it is signed.
    ///   - fault: the fault to apply.
    /// - Returns: the property list, in UTF-8.
    /// - Throws: the errors of the crypto library if a key cannot be made or cannot sign.
    public func encode(
        _ template: TransactionReceiptTemplate,
        version: TransactionReceiptVersion,
        fault: TransactionReceiptFault? = nil
    ) throws -> [UInt8] {
        var plan = TransactionReceiptPlan(template: template, version: version, authority: authority)
        fault?.alterContent(of: &plan)
        try fault?.alterAuthority(of: &plan)
        var message = try plan.message()
        fault?.alter(&message, of: plan)
        var bytes = message.encoded()
        fault?.alter(&bytes)
        return bytes
    }

    /// Signs a receipt and writes it as base64 in one line, as an app sends it.
    /// - Throws: as `encode`.
    public func encodeBase64(
        _ template: TransactionReceiptTemplate,
        version: TransactionReceiptVersion,
        fault: TransactionReceiptFault? = nil
    ) throws -> String {
        Data(try encode(template, version: version, fault: fault)).base64EncodedString()
    }
}
