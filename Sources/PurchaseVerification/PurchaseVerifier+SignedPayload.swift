extension PurchaseVerifier {
    /// Whether signed data has a certificate header that was verified before, so that verifying it takes no search of a
    /// path. It says nothing about the signature.
    public func isCertificateHeaderKnown(of signedPayload: [UInt8]) -> Bool {
        let text = signedPayload[...]
        guard let end = text.span.offset(of: UInt8(ascii: "."), from: 0) else { return false }
        return memory.path(header: 0..<end, text.span) != nil
    }

    /// Verifies signed data of any kind, in this order: form, certificates at the signing date, signature, claims,
    /// nested data, and policies.
    func verifySignedPayload(
        _ bytes: [UInt8], policies: [any PurchasePolicy]
    ) throws(VerificationError) -> VerifiedEvidence {
        let (payload, claims, path) = try verifiedClaims(bytes)
        let evidence = try verified(claims, payload)
        let facts = evidence.facts
        try path.requireVouching(for: facts)
        try facts.require(policies)
        return evidence
    }

    /// The claims of a JWS whose certificates and signature were verified.
    private func verifiedClaims(
        _ bytes: [UInt8]
    ) throws(VerificationError) -> (payload: [UInt8], claims: AnySignedClaims, path: CertificatePath) {
        let jws = try CompactJWS(bytes)
        if let path = signedPayloadAuthority.rememberedPath(jws),
            let claims = try Self.claims(jws, by: path)
        {
            return (jws.payload, claims, path)
        }
        // Any failure above fails again below, where the error is the same for a verifier with an empty memory.
        // The header comes first: if it is wrong, a missing date is not the reason.
        let header = try JWSHeader(try jws.decodedHeader())
        guard let signingDate = try SigningDate(jws.payload).moment else {
            throw VerificationError(.creationDateMissing, expected: "signedDate")
        }
        let path = try signedPayloadAuthority.path(jws, header, at: signingDate)
        try SignedPayloadAuthority.requireSignature(jws, by: path.leaf)
        return (jws.payload, try AnySignedClaims(jws.payload), path)
    }

    /// The claims, if all checks pass with a path that was verified before.
    ///
    /// - Throws: the error of the signature, if only that is wrong: a second check would double the cost of a forgery.
    private static func claims(
        _ jws: CompactJWS, by path: CertificatePath
    ) throws(VerificationError) -> AnySignedClaims? {
        do throws(VerificationError) {
            try SignedPayloadAuthority.requireSignature(jws, by: path.leaf)
        } catch {
            // Without a valid date the caller finds the same error as a verifier with an empty memory.
            guard let signingDate = try? SigningDate(jws.payload).moment, path.isValid(at: signingDate) else {
                return nil
            }
            throw error
        }
        do throws(VerificationError) {
            let claims = try AnySignedClaims(jws.payload)
            // Only a notification may have no date; then the dates of its parts are used.
            let stated = if let date = claims.signedDate { date } else { try SigningDate(jws.payload).moment }
            guard let signingDate = stated, path.isValid(at: signingDate) else { return nil }
            return claims
        } catch {
            return nil
        }
    }

    private func verified(
        _ claims: AnySignedClaims, _ payload: [UInt8]
    ) throws(VerificationError) -> VerifiedEvidence {
        switch claims {
        case .transaction(let claims): .signedTransaction(SignedTransaction(claims, payload: payload))
        case .renewalInfo(let claims): .signedRenewalInfo(SignedRenewalInfo(claims, payload: payload))
        case .appTransaction(let claims): .appTransaction(SignedAppTransaction(claims, payload: payload))
        case .notification(let claims):
            .notification(try notification(claims, payload))
        case .realtimeRequest(let claims): .realtimeRequest(RealtimeRequest(claims, payload: payload))
        }
    }

    /// A notification with the signed data that it carries, each verified separately and compared with the envelope.
    private func notification(
        _ claims: NotificationClaims, _ payload: [UInt8]
    ) throws(VerificationError) -> AppStoreNotification {
        let envelope = AppStoreNotification(claims, payload: payload)
        var nested = NestedSignedPayload()
        for (text, kind) in claims.nestedData {
            let (payload, claims, path) = try verifiedClaims(Array(text.utf8))
            guard claims.kind == kind else {
                throw VerificationError(.nestedDataMismatch, expected: kind.rawValue, found: claims.kind.rawValue)
            }
            try nested.add(claims, payload, of: envelope)
            try path.requireVouching(for: nested.environment)
        }
        return AppStoreNotification(
            claims, payload: payload, transaction: nested.transaction, renewalInfo: nested.renewalInfo,
            appTransaction: nested.appTransaction)
    }
}

extension NotificationClaims {
    /// The signed data that the notification carries, each with the kind that its place is for.
    var nestedData: [(text: String, kind: EvidenceKind)] {
        [
            (data?.signedTransactionInfo, EvidenceKind.signedTransaction),
            (data?.signedRenewalInfo, .signedRenewalInfo), (appData?.signedAppTransactionInfo, .appTransaction),
        ].compactMap { text, kind in text.map { ($0, kind) } }
    }
}
