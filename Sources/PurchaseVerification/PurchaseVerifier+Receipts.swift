extension PurchaseVerifier {
    /// Verifies the container, the path at the creation date, the signature, the content and the policies, in this
    /// order.
    func verifyAppReceipt(
        ber bytes: [UInt8], policies: [any PurchasePolicy]
    ) throws(VerificationError) -> AppReceipt {
        let container = try AppReceiptContainer(bytes)
        let bytes = container.bytes[...]
        let payloadBytes = container.payloadBytes[...]
        let creationDate = try AppReceiptPayload.creationDate(payloadBytes.span, container.payload)
        let path = try certificatePath(of: container, at: creationDate)
        try ContentSignature.verify(container.signedData, bytes.span, key: try path.leaf.publicKey.get())
        let receipt = AppReceipt(
            try AppReceiptPayload(container.payloadBytes, container.payload), path: path)
        try path.requireVouching(for: receipt.environment)
        try receipt.require(policies)
        return receipt
    }

    /// The verified path from the container's signer to an anchor, valid at the time and with Apple's markers.
    private func certificatePath(
        of container: AppReceiptContainer, at moment: AppStoreTime
    ) throws(VerificationError) -> CertificatePath {
        let slice = container.bytes[...]
        let bytes = slice.span
        let certificates = container.signedData.certificates
        let leaf = try container.signerCertificate()
        let (path, isNew) = try memory.validPath(leaf: leaf, certificates: certificates, bytes, at: moment) {
            () throws(VerificationError) in try newCertificatePath(of: container, leaf: leaf, at: moment)
        }
        if isNew { memory.remember(path) }
        return path
    }

    /// The path of a chain that was not seen before, its markers not yet checked.
    func newCertificatePath(
        of container: AppReceiptContainer, leaf: Range<Int>, at moment: AppStoreTime
    ) throws(VerificationError) -> CertificatePath {
        let slice = container.bytes[...]
        let bytes = slice.span
        var builder = CertificatePathBuilder(anchors: anchors, at: moment)
        for range in container.signedData.certificates where range != leaf {
            builder.add { () throws(VerificationError) in try Certificate(bytes.copy(range)) }
        }
        return try builder.path(from: try Certificate(bytes.copy(leaf)))
    }
}

extension CertificatePath {
    /// Checks that the anchor may vouch for the environment of the evidence. A notification whose body is unknown may
    /// state none; it proves no purchase of any environment.
    func requireVouching(for facts: any EvidenceFacts) throws(VerificationError) {
        if facts.kind == .notification, facts.environment == nil, !isLeafAnchored { return }
        try requireVouching(for: facts.environment)
    }

    /// Checks that the anchor may vouch for the environment.
    func requireVouching(for environment: AppStoreEnvironment?) throws(VerificationError) {
        guard anchor.vouches(for: environment, signedByAnchorItself: isLeafAnchored) else {
            throw VerificationError(
                .environmentNotVouchedFor, expected: "an environment that \(anchor.subject) may vouch for",
                found: environment?.name ?? "none")
        }
    }
}

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
