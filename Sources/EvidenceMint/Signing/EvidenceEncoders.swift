import Foundation

/// Signs receipts with an authority, and applies faults on demand.
///
/// ```swift
/// let encoder = AppReceiptEncoder(authority: try CertificateAuthority())
/// let receipt = AppReceiptTemplate.sandbox(bundleID: "com.example.app", creationDate: .now)
/// let genuine = try encoder.encode(receipt)
/// let forged = try encoder.encode(receipt, fault: .flippedPayloadByte)
/// ```
public struct AppReceiptEncoder: Sendable {
    public let authority: CertificateAuthority

    public init(authority: CertificateAuthority) { self.authority = authority }

    /// Signs a receipt. The same parameters make the same bytes, because RSA signatures of this kind are not random;
    /// only a fault that needs other keys draws new ones in each process.
    /// - Parameters:
    ///   - template: the content.
    ///   - signing: the form. If it has its own payload, a fault of the content has no effect.
    ///   - fault: the fault to apply.
    /// - Returns: the CMS message as DER, or as BER if the options request it.
    /// - Throws: the errors of the crypto library if a key cannot be made or cannot sign.
    public func encode(
        _ template: AppReceiptTemplate, signing: SigningOptions = SigningOptions(), fault: ReceiptFault? = nil
    ) throws -> [UInt8] {
        var plan = ReceiptPlan(template: template, options: signing, authority: authority)
        try fault?.effect.alterPlan(&plan)
        var message = try plan.message()
        try fault?.effect.alterMessage(&message, plan)
        var bytes = message.encoded()
        fault?.effect.alterBytes(&bytes)
        return bytes
    }

    /// Signs a receipt and writes it as base64 in one line, as an iOS app sends it.
    /// - Throws: as `encode`.
    public func encodeBase64(
        _ template: AppReceiptTemplate, signing: SigningOptions = SigningOptions(), fault: ReceiptFault? = nil
    ) throws -> String {
        Data(try encode(template, signing: signing, fault: fault)).base64EncodedString()
    }
}

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
    public let authority: AppStoreAuthority

    public init(authority: AppStoreAuthority) { self.authority = authority }

    /// Signs a receipt. The same parameters make the same bytes; only a fault that needs other keys draws new ones in
    /// each process.
    /// - Parameters:
    ///   - template: the content.
    ///   - version: how it is signed.
    ///   - fault: the fault to apply.
    /// - Returns: the property list, in UTF-8.
    /// - Throws: the errors of the crypto library if a key cannot be made or cannot sign.
    public func encode(
        _ template: TransactionReceiptTemplate, version: TransactionReceiptVersion,
        fault: TransactionReceiptFault? = nil
    ) throws -> [UInt8] {
        var plan = TransactionReceiptPlan(template: template, version: version, authority: authority)
        try fault?.effect.alterPlan(&plan)
        var message = try plan.message()
        try fault?.effect.alterMessage(&message, plan)
        var bytes = message.encoded()
        fault?.effect.alterBytes(&bytes)
        return bytes
    }

    /// Signs a receipt and writes it as base64 in one line, as an app sends it.
    /// - Throws: as `encode`.
    public func encodeBase64(
        _ template: TransactionReceiptTemplate, version: TransactionReceiptVersion,
        fault: TransactionReceiptFault? = nil
    ) throws -> String {
        Data(try encode(template, version: version, fault: fault)).base64EncodedString()
    }
}

/// Signs transactions, renewal information, app transactions and notifications with an authority, and applies faults on
/// demand.
///
/// ```swift
/// let encoder = SignedPayloadEncoder(authority: try AppStoreAuthority())
/// let coins = PurchaseTemplate.consumable(productID: "coins", transactionID: "1000", purchaseDate: .now)
/// let transaction = SignedTransactionTemplate(purchase: coins, bundleID: "com.example.app")
/// let genuine = try encoder.encode(transaction)
/// let forged = try encoder.encode(transaction, fault: .editedClaims)
/// ```
public struct SignedPayloadEncoder: Sendable {
    public let authority: SignedPayloadAuthority

    public init(authority: AppStoreAuthority) { self.init(authority: authority.signedPayload) }

    public init(authority: SignedPayloadAuthority) { self.authority = authority }

    /// Signs: ES256, with exactly `alg` and an `x5c` of leaf, intermediate and root in the header (RFC 7515). Data
    /// nested in a notification is signed first, with the same authority. The content is always the same for the same
    /// template; the signature differs each time, because ECDSA uses a random number.
    /// - Parameters:
    ///   - template: the content.
    ///   - fault: the fault to apply.
    /// - Returns: the compact JWS.
    /// - Throws: `MintError.inapplicableFault` if the content lacks the part that the fault would break, and the errors
    ///   of the crypto library if a key cannot sign.
    public func encode(_ template: some SignedPayloadTemplate, fault: SignedPayloadFault? = nil) throws -> String {
        if let fault, !fault.applies(to: template) { throw MintError.inapplicableFault(fault.rawValue) }
        let claims = try template.claims { try encode($0, fault: fault?.faultOfNestedData($0)) }
        var plan = SignedPayloadPlan(
            claims: claims, signingDateClaim: type(of: template).signingDateClaim, signingDate: template.signingDate,
            authority: authority)
        try fault?.effect.alterPlan(&plan)
        var message = try plan.message()
        try fault?.effect.alterMessage(&message, plan)
        return message.encoded()
    }
}
