extension PurchaseVerifier {
    /// Verifies the two lists' form, the leaf at the purchase date, the signature, the content and the policies, in
    /// this order.
    func verifyTransactionReceipt(
        _ bytes: [UInt8], policies: [any PurchasePolicy]
    ) throws(VerificationError) -> TransactionReceipt {
        let container = try TransactionReceiptContainer(bytes)
        let list = try PropertyList(container.purchaseInfo)
        let leaf = try transactionReceiptAuthority.leaf(container.signature, at: try PurchaseInfo.purchaseDate(list))
        try container.requireSignature(by: leaf.key)
        let receipt = TransactionReceipt(
            try PurchaseInfo(list), version: container.signature.version,
            unsignedEnvironment: container.unsignedEnvironment)
        try leaf.authority.requireVouching(for: receipt.environment)
        try receipt.require(policies)
        return receipt
    }
}

extension TransactionReceiptContainer {
    /// Checks that the key signed the version byte and purchase-info.
    func requireSignature(by key: PublicKey) throws(VerificationError) {
        guard case .rsa(let key) = key else {
            throw VerificationError(.publicKeyUnacceptable, expected: "an RSA key", found: key.kind)
        }
        let signed = purchaseInfo[...]
        let digest = MessageDigest(
            signature.version.digestAlgorithm, prefix: [signature.version.rawValue], signed.span,
            0..<purchaseInfo.count)
        let field = signature.bytes[signature.signatureRange]
        guard key.isValid(field.span, for: digest) else { throw VerificationError(.signatureInvalid) }
    }
}
