extension PurchaseVerifier {
    /// Makes every check on its own and reads what can be read, without vouching for any of it.
    ///
    /// - Parameters:
    ///   - evidence: the receipt, bare or in base64.
    ///   - policies: the caller's demands, each of which is shown as a check.
    public func inspect(_ evidence: [UInt8], policies: [any AppReceiptPolicy]) -> AppReceiptInspection {
        var run = InspectionRun()
        let recognized = run.check("form") { () throws(VerificationError) in try Evidence(evidence) }
        let container = run.check("container", after: recognized) { evidence throws(VerificationError) in
            try AppReceiptContainer(try evidence.appReceiptBytes())
        }
        let creationDate = run.check("creation date", after: container) { container throws(VerificationError) in
            try AppReceiptPayload.creationDate(container.payloadBytes.span, container.payload)
        }
        let path = run.check("certificate path", after: container, creationDate) {
            container, date throws(VerificationError) in
            try newCertificatePath(of: container, leaf: try container.signerCertificate(), at: date)
        }
        run.check("marker extensions", after: path) { path throws(VerificationError) in
            try MarkerPolicy.require(path)
        }
        // Trusted by nobody where the path failed; it still shows whether the content was changed.
        let signer = run.check("signing key", after: container) { container throws(VerificationError) in
            try Certificate(container.bytes.span.copy(try container.signerCertificate())).publicKey.get()
        }
        run.check("signature", after: container, signer) { container, key throws(VerificationError) in
            try ContentSignature.verify(container.signedData, container.bytes.span, key: key)
        }
        let payload = run.check("content", after: container) { container throws(VerificationError) in
            try AppReceiptPayload(container.payloadBytes, container.payload)
        }
        let receipt = payload.map { UnverifiedAppReceipt($0, path: nil) }
        run.check("authority for the environment", after: path, receipt) {
            path, receipt throws(VerificationError) in
            try path.requireVouching(for: receipt.environment)
        }
        for policy in policies {
            run.check(policy.name, after: receipt) { receipt throws(VerificationError) in try policy.check(receipt) }
        }
        return AppReceiptInspection(
            evidence: recognized, checks: run.checks,
            certificates: container.map(Self.certificates(of:)) ?? [],
            certificatePath: path.map(Self.names(of:)) ?? [],
            signature: container.map {
                "\($0.signedData.signer.digestAlgorithm.rawValue), \($0.signedData.signer.signatureAlgorithm.name)"
                    + ($0.signedData.signer.signedAttributes == nil ? "" : ", with signed attributes")
            },
            containerBytes: container?.bytes.count, receipt: receipt)
    }

    private static func certificates(of container: AppReceiptContainer) -> [UnverifiedCertificate] {
        container.signedData.certificates.compactMap { range in
            do throws(VerificationError) {
                return UnverifiedCertificate(try Certificate(container.bytes.span.copy(range)))
            } catch {
                // The check of the certificate path reports it where it matters.
                return nil
            }
        }
    }

    private static func names(of path: CertificatePath) -> [String] {
        let names = ([path.leaf] + path.intermediates).map(\.subject.description)
        return path.isLeafAnchored ? names : names + [path.anchor.subject]
    }
}

/// Collects checks: each runs if all that it needs is there.
private struct InspectionRun {
    private(set) var checks: [AppReceiptInspection.Check] = []

    mutating func check<Value>(_ name: String, _ body: () throws(VerificationError) -> Value) -> Value? {
        do throws(VerificationError) {
            let value = try body()
            checks.append(.init(name: name, outcome: .passed))
            return value
        } catch {
            checks.append(.init(name: name, outcome: .failed(error)))
            return nil
        }
    }

    @discardableResult
    mutating func check<Input, Value>(
        _ name: String, after input: Input?, _ body: (Input) throws(VerificationError) -> Value
    ) -> Value? {
        guard let input else {
            checks.append(.init(name: name, outcome: .notPossible))
            return nil
        }
        return check(name) { () throws(VerificationError) in try body(input) }
    }

    @discardableResult
    mutating func check<First, Second, Value>(
        _ name: String, after first: First?, _ second: Second?,
        _ body: (First, Second) throws(VerificationError) -> Value
    ) -> Value? {
        guard let first, let second else {
            checks.append(.init(name: name, outcome: .notPossible))
            return nil
        }
        return check(name) { () throws(VerificationError) in try body(first, second) }
    }
}
