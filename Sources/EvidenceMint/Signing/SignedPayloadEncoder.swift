import Foundation

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

    /// An encoder for one authority.
    public init(authority: AppStoreAuthority) {
        self.init(authority: authority.signedPayload)
    }

    /// An encoder for one authority.
    public init(authority: SignedPayloadAuthority) {
        self.authority = authority
    }

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
        if let fault, !fault.applies(to: template) {
            throw MintError.inapplicableFault(fault.rawValue)
        }
        let claims = try template.claims { try encode($0, fault: fault?.faultOfNestedData($0)) }
        var plan = SignedPayloadPlan(
            claims: claims,
            signingDateClaim: type(of: template).signingDateClaim,
            signingDate: template.signingDate,
            authority: authority
        )
        fault?.alterContent(of: &plan)
        try fault?.alterAuthority(of: &plan)
        fault?.alterHeader(of: &plan)
        var message = try plan.message()
        try fault?.alter(&message, of: plan)
        return message.encoded()
    }
}
