extension PurchaseVerifier {
    /// Makes every check separately and reads as much as possible, without vouching for any of it.
    ///
    /// - Parameters:
    ///   - evidence: evidence of any kind, in any encoding that `verify` accepts.
    ///   - policies: the caller's policies, each of which is shown as a check.
    public func inspect(_ evidence: [UInt8], policies: [any PurchasePolicy]) -> EvidenceInspection {
        // An inspection must not change the memory of verified evidence.
        PurchaseVerifier(withoutMemoryOf: self).inspection(of: evidence, policies: policies)
    }

    private func inspection(of evidence: [UInt8], policies: [any PurchasePolicy]) -> EvidenceInspection {
        var run = InspectionRun()
        guard let recognized = run.check("form", { () throws(VerificationError) in try RecognizedEvidence(evidence) })
        else {
            return EvidenceInspection(
                evidence: nil, checks: run.checks, certificates: [], certificatePath: [], signature: nil,
                containerBytes: nil, content: nil)
        }
        switch recognized.form {
        case .appReceipt: return inspectAppReceipt(recognized, policies, &run)
        case .transactionReceipt: return inspectTransactionReceipt(recognized, policies, &run)
        case .compactJWS: return inspectSignedPayload(recognized, policies, &run)
        }
    }

    private func inspectAppReceipt(
        _ evidence: RecognizedEvidence, _ policies: [any PurchasePolicy], _ run: inout InspectionRun
    ) -> EvidenceInspection {
        let container = run.check("container") { () throws(VerificationError) in
            try AppReceiptContainer(evidence.bytes)
        }
        let creationDate = run.check("creation date", after: container) { container throws(VerificationError) in
            let bytes = container.payloadBytes[...]
            return try AppReceiptPayload.creationDate(bytes.span, container.payload)
        }
        let path = run.check("certificate path", after: container, creationDate) {
            container, date throws(VerificationError) in
            try newCertificatePath(of: container, leaf: try container.signerCertificate(), at: date)
        }
        run.check("marker extensions", after: path) { path throws(VerificationError) in
            try MarkerPolicy.require(path)
        }
        // Without a trusted path, the check still shows whether the content was changed.
        let signer = run.check("signing key", after: container) { container throws(VerificationError) in
            try Certificate(Array(container.bytes[try container.signerCertificate()])).publicKey.get()
        }
        run.check("signature", after: container, signer) { container, key throws(VerificationError) in
            let bytes = container.bytes[...]
            return try ContentSignature.verify(container.signedData, bytes.span, key: key)
        }
        let payload = run.check("content", after: container) { container throws(VerificationError) in
            try AppReceiptPayload(container.payloadBytes, container.payload)
        }
        let content = payload.map { UnverifiedEvidence.appReceipt(UnverifiedAppReceipt($0, path: nil)) }
        run.check("authority for the environment", after: path, content) {
            path, content throws(VerificationError) in
            try path.requireVouching(for: content.facts.environment)
        }
        run.check(policies, content)
        let certificates = container.map { container in
            container.signedData.certificates.map { Array(container.bytes[$0]) }
        }
        return EvidenceInspection(
            evidence: evidence, checks: run.checks, certificates: Self.readable(certificates ?? []),
            certificatePath: path.map(Self.names(of:)) ?? [],
            signature: container.map {
                "\($0.signedData.signer.digestAlgorithm.rawValue), \($0.signedData.signer.signatureAlgorithm.name)"
                    + ($0.signedData.signer.signedAttributes == nil ? "" : ", with signed attributes")
            },
            containerBytes: container?.bytes.count, content: content)
    }

    private func inspectTransactionReceipt(
        _ evidence: RecognizedEvidence, _ policies: [any PurchasePolicy], _ run: inout InspectionRun
    ) -> EvidenceInspection {
        let container = run.check("container") { () throws(VerificationError) in
            try TransactionReceiptContainer(evidence.bytes)
        }
        let list = run.check("purchase info", after: container) { container throws(VerificationError) in
            try PropertyList(container.purchaseInfo)
        }
        let purchaseDate = run.check("purchase date", after: list) { list throws(VerificationError) in
            try PurchaseInfo.purchaseDate(list)
        }
        let leaf = run.check("certificate", after: container, purchaseDate) {
            container, date throws(VerificationError) in
            try transactionReceiptAuthority.leaf(container.signature, at: date)
        }
        let signer = run.check("signing key", after: container) { container throws(VerificationError) in
            let sizes = container.signature.version.signatureBytes...container.signature.version.signatureBytes
            return try Certificate(container.signature.certificate, rsaModulusBytes: sizes).publicKey.get()
        }
        run.check("signature", after: container, signer) { container, key throws(VerificationError) in
            try container.requireSignature(by: key)
        }
        let info = run.check("content", after: list) { list throws(VerificationError) in try PurchaseInfo(list) }
        var content: UnverifiedEvidence?
        if let container, let info {
            let receipt = UnverifiedTransactionReceipt(
                info, version: container.signature.version, unsignedEnvironment: container.unsignedEnvironment)
            content = .transactionReceipt(receipt, unsigned: container.unsigned)
        }
        run.check("authority for the environment", after: leaf, content) {
            leaf, content throws(VerificationError) in
            try leaf.authority.requireVouching(for: content.facts.environment)
        }
        run.check(policies, content)
        return EvidenceInspection(
            evidence: evidence, checks: run.checks,
            certificates: Self.readable(container.map { [$0.signature.certificate] } ?? []),
            certificatePath: leaf.map { [$0.subject.description, $0.authority.subject.description] } ?? [],
            signature: container.map {
                "version \($0.signature.version.rawValue): RSA \($0.signature.version.signatureBytes * 8), "
                    + $0.signature.version.digestAlgorithm.rawValue
            },
            containerBytes: evidence.bytes.count, content: content)
    }

    private func inspectSignedPayload(
        _ evidence: RecognizedEvidence, _ policies: [any PurchasePolicy], _ run: inout InspectionRun
    ) -> EvidenceInspection {
        let jws = run.check("segments") { () throws(VerificationError) in try CompactJWS(evidence.bytes) }
        let header = run.check("header", after: jws) { jws throws(VerificationError) in
            try JWSHeader(try jws.decodedHeader())
        }
        let signingDate = run.check("date of signing", after: jws) { jws throws(VerificationError) in
            guard let date = try SigningDate(jws.payload).moment else {
                throw VerificationError(.creationDateMissing, expected: "signedDate")
            }
            return date
        }
        let path = run.check("certificate path", after: header, signingDate) {
            header, date throws(VerificationError) in
            try signedPayloadAuthority.newPath(header, at: date)
        }
        run.check("marker extensions", after: path) { path throws(VerificationError) in
            try MarkerPolicy.require(path)
        }
        let signer = run.check("signing key", after: header) { header throws(VerificationError) in
            try Certificate(header.certificates[0])
        }
        run.check("signature", after: jws, signer) { jws, leaf throws(VerificationError) in
            try SignedPayloadAuthority.requireSignature(jws, by: leaf)
        }
        let claims = run.check("claims", after: jws) { jws throws(VerificationError) in
            try AnySignedClaims(jws.payload)
        }
        let content = jws.flatMap { jws in claims.map { Self.unverified($0, jws.payload) } }
        if case .notification(let notification) = claims, !notification.nestedData.isEmpty {
            // The whole notification, because nested data counts only with its envelope.
            run.check("signed data inside", after: jws) { jws throws(VerificationError) in
                _ = try verifySignedPayload(jws.bytes, policies: [])
            }
        }
        run.check("authority for the environment", after: path, content) {
            path, content throws(VerificationError) in
            try path.requireVouching(for: content.facts)
        }
        run.check(policies, content)
        return EvidenceInspection(
            evidence: evidence, checks: run.checks, certificates: Self.readable(header?.certificates ?? []),
            certificatePath: path.map(Self.names(of:)) ?? [], signature: header.map { _ in "ES256" },
            containerBytes: jws?.bytes.count, content: content)
    }

    private static func unverified(_ claims: AnySignedClaims, _ payload: [UInt8]) -> UnverifiedEvidence {
        switch claims {
        case .transaction(let claims): .signedTransaction(UnverifiedSignedTransaction(claims, payload: payload))
        case .renewalInfo(let claims): .signedRenewalInfo(UnverifiedSignedRenewalInfo(claims, payload: payload))
        case .appTransaction(let claims): .appTransaction(UnverifiedSignedAppTransaction(claims, payload: payload))
        case .notification(let claims): .notification(unverified(claims, payload))
        case .realtimeRequest(let claims): .realtimeRequest(UnverifiedRealtimeRequest(claims, payload: payload))
        }
    }

    /// A notification with its nested data, as far as it can be read, because policies also check it.
    private static func unverified(_ claims: NotificationClaims, _ payload: [UInt8]) -> UnverifiedAppStoreNotification {
        var transaction: UnverifiedSignedTransaction?
        var renewalInfo: UnverifiedSignedRenewalInfo?
        var appTransaction: UnverifiedSignedAppTransaction?
        for (text, _) in claims.nestedData {
            do throws(VerificationError) {
                let payload = try CompactJWS(Array(text.utf8)).payload
                switch unverified(try AnySignedClaims(payload), payload) {
                case .signedTransaction(let content): transaction = content
                case .signedRenewalInfo(let content): renewalInfo = content
                case .appTransaction(let content): appTransaction = content
                case .appReceipt, .transactionReceipt, .notification, .realtimeRequest: continue
                }
            } catch {
                // The check of the signed data inside reports it.
                continue
            }
        }
        return UnverifiedAppStoreNotification(
            claims, payload: payload, transaction: transaction, renewalInfo: renewalInfo,
            appTransaction: appTransaction)
    }

    private static func readable(_ certificates: [[UInt8]]) -> [UnverifiedCertificate] {
        certificates.compactMap { der in
            do throws(VerificationError) {
                return UnverifiedCertificate(try Certificate(der, rsaModulusBytes: 128...512))
            } catch {
                // The check of the certificate path reports the error if it matters.
                return nil
            }
        }
    }

    private static func names(of path: CertificatePath) -> [String] {
        let names = ([path.leaf] + path.intermediates).map(\.subject.description)
        return path.isLeafAnchored ? names : names + [path.anchor.subject]
    }
}
