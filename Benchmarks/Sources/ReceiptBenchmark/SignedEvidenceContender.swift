import PurchaseVerification

/// The contenders for all evidence other than app receipts.
enum SignedEvidenceRow: String, CaseIterable {
    case floor
    case assayHot = "assay-hot"
    case assayHotStrings = "assay-hot-strings"
    case assayFirstSight = "assay-first-sight"
}

extension SignedEvidence {
    /// The description in the tables.
    func title(_ row: SignedEvidenceRow) -> String {
        switch row {
        case .floor where name.hasPrefix("receipt"): "floor R: digest and RSA verification, key ready"
        case .floor: "floor P: digest and P-256 verification, key ready, each signature"
        case .assayHot where name.hasPrefix("receipt"): "Assay, certificate seen before"
        case .assayHot: "Assay, chain seen before, all claims decoded"
        case .assayHotStrings: "Assay, seen before, every field read"
        case .assayFirstSight: "Assay, first sight"
        }
    }

    func contenderName(_ row: SignedEvidenceRow) -> String { "\(name)/\(row.rawValue)" }

    /// All contenders of this evidence.
    func contenders() throws -> [Contender] { try SignedEvidenceRow.allCases.map(contender) }

    func contender(_ row: SignedEvidenceRow) throws -> Contender {
        let (evidence, policies, floor) = (evidence, Self.policies, parts.floor)
        let anchors = try trusted.isEmpty ? TrustAnchor.apple : trusted.map { try TrustAnchor(certificate: $0) }
        let warmed = PurchaseVerifier(anchors: anchors)
        let first = try warmed.verify(evidence, policies: policies)
        let run: () throws -> Int =
            switch row {
            case .floor:
                {
                    guard floor() else { throw BenchmarkError("floor: invalid") }
                    return 1
                }
            case .assayHot:
                { try warmed.verify(evidence, policies: policies).kind == first.kind ? 1 : 0 }
            case .assayHotStrings:
                { try warmed.verify(evidence, policies: policies).everythingRead() }
            case .assayFirstSight:
                {
                    let verifier = PurchaseVerifier(anchors: anchors)
                    return try verifier.verify(evidence, policies: policies).kind == first.kind ? 1 : 0
                }
            }
        return Contender(name: contenderName(row), title: title(row), run: run)
    }

    /// The checks that a server makes on all evidence.
    private static var policies: [any PurchasePolicy] { [EnvironmentPolicy(accepting: [.production, .sandbox])] }
}

extension VerifiedEvidence {
    /// Reads every typed field that is costly to read, and adds up their contents.
    func everythingRead() -> Int {
        switch self {
        case .transactionReceipt(let receipt):
            var sum = receipt.transactionID.utf8.count + receipt.productID.utf8.count
            for text in [
                receipt.originalTransactionID, receipt.bundleID, receipt.applicationVersion, receipt.webOrderLineItemID,
                receipt.subscriptionGroupIdentifier, receipt.uniqueIdentifier, receipt.uniqueVendorIdentifier,
                receipt.ownershipType?.rawValue,
            ] { sum += text?.utf8.count ?? 0 }
            for number in [
                receipt.quantity, receipt.productAppleID, receipt.appAppleID, receipt.versionExternalIdentifier,
            ] { sum &+= Int(truncatingIfNeeded: number ?? 0) }
            sum += (receipt.isTrialPeriod == true ? 1 : 0) + (receipt.isInIntroOfferPeriod == true ? 1 : 0)
            return sum
        // The claims of signed data are already decoded.
        case .signedTransaction(let content): return content.productID.utf8.count
        case .signedRenewalInfo(let content): return content.productID?.utf8.count ?? 0
        case .appTransaction(let content): return content.bundleID?.utf8.count ?? 0
        case .notification(let content): return content.bundleID?.utf8.count ?? 0
        case .realtimeRequest(let content): return content.productID?.utf8.count ?? 0
        case .appReceipt(let receipt): return receipt.everythingRead()
        }
    }
}
