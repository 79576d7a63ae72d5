import PurchaseVerification
import TestSupport
import Testing

/// Every real receipt verifies, and all others are refused.
@Suite("App receipts of the corpus", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct AppReceiptCorpusTests {
    private let verifier = PurchaseVerifier()
    private let storePolicies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: [.production, .sandbox])]

    @Test("Every genuine receipt verifies, with the content that the manifest states")
    func genuine() throws {
        let items = try Corpus.items("app-receipt").filter { $0.expected?.verdict == "genuine" }
        try #require(!items.isEmpty)
        var verified = 0
        var purchases = 0
        for item in items {
            let bytes = try item.bytes()
            let receipt: AppReceipt
            do throws(VerificationError) {
                receipt = try verifier.verifyAppReceipt(bytes, policies: storePolicies)
            } catch {
                Issue.record("\(item.name): \(error)")
                continue
            }
            verified += 1
            purchases += receipt.inAppPurchases.count
            #expect(receipt.bundleID == item.bundleID, "\(item.name)")
            #expect(receipt.applicationVersion == item.applicationVersion, "\(item.name)")
            #expect(receipt.receiptType == item.receiptType, "\(item.name)")
            #expect(receipt.creationDate == item.creationDate.flatMap { AppStoreTime($0) }, "\(item.name)")
            #expect(receipt.inAppPurchases.count == item.inAppCount, "\(item.name)")
            #expect(receipt.environment?.name.lowercased() == item.environment, "\(item.name)")
        }
        #expect(verified == items.count)
        #expect(verifier.rememberedPaths > 1)
        print("corpus: \(verified) of \(items.count) genuine app receipts verified, \(purchases) purchases in them")
    }

    @Test("The device hash matches on its own device and on no other")
    func deviceHash() throws {
        let items = try Corpus.items("app-receipt").filter { $0.deviceGUID != nil && $0.expected?.verdict == "genuine" }
        try #require(!items.isEmpty)
        for item in items {
            let device = try #require(DeviceIdentifier(item.deviceGUID ?? ""))
            _ = try verifier.verifyAppReceipt(try item.bytes(), policies: [DeviceHashPolicy(device)])
            let other = DeviceIdentifier(bytes: device.bytes.map { $0 ^ 1 })
            #expect(throws: VerificationError.self) {
                try verifier.verifyAppReceipt(try item.bytes(), policies: [DeviceHashPolicy(other)])
            }
        }
        print("corpus: \(items.count) device hashes recomputed")
    }

    @Test("Xcode's receipts verify only with their own certificate as anchor and Xcode accepted")
    func xcode() throws {
        let items = try Corpus.items("app-receipt-xcode")
        try #require(!items.isEmpty)
        let xcodePolicies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: [.xcode])]
        for item in items {
            let bytes = try item.bytes()
            let certificate = try #require(verifier.inspect(bytes, policies: []).certificates.first)
            let trusting = PurchaseVerifier(
                anchors: TrustAnchor.apple + [try TrustAnchor(certificate: certificate.der)])
            #expect(code(verifier, bytes, storePolicies) == .issuerUnknown)
            #expect(code(verifier, bytes, xcodePolicies) == .issuerUnknown)
            #expect(code(trusting, bytes, storePolicies) == .environmentNotAccepted)
            let receipt = try trusting.verifyAppReceipt(bytes, policies: xcodePolicies)
            #expect(receipt.bundleID == item.bundleID)
            #expect(receipt.inAppPurchases.count == item.inAppCount)
            #expect(receipt.creationDate == item.creationDate.flatMap { AppStoreTime($0) })
        }
        print("corpus: \(items.count) Xcode receipts verified with their own anchor only")
    }

    @Test("Everything that must not verify is refused with its code")
    func negative() throws {
        let kinds: Set = [
            "apple-signed-not-a-receipt", "derived-negative", "forged-certificate", "synthetic-receipt",
            "truncated-receipt",
        ]
        let items = try Corpus.items().filter { kinds.contains($0.kind) && !$0.file.hasSuffix(".jws") }
        try #require(!items.isEmpty)
        var refused = 0
        var accepted: [String] = []
        for item in items {
            let code = code(verifier, try item.bytes(), storePolicies)
            let verdict = item.expected?.verdict ?? ""
            if let code {
                refused += 1
                #expect(Self.fits(code, item), "\(item.name) was refused with \(code.rawValue)")
            } else {
                accepted.append(item.name)
                #expect(Self.mayPass(verdict), "\(item.name) was accepted")
            }
        }
        #expect(refused > 0)
        print("corpus: \(refused) of \(items.count) negatives refused; genuine in another form: \(accepted.sorted())")
    }

    @Test("Apple's sample of 2010 is refused: its keys have 1,024 bits, and its leaf has no marker for receipts")
    func sample() throws {
        for item in try Corpus.items("app-receipt") where item.expected?.verdict != "genuine" {
            let code = code(verifier, try item.bytes(), storePolicies)
            #expect(code == .publicKeyUnacceptable || code == .leafMarkerMissing, "\(item.name)")
        }
    }

    /// A genuine receipt in another text encoding, or with an additional root that no path needs.
    private static func mayPass(_ verdict: String) -> Bool {
        ["genuine", "chain to the pinned root is intact", "unless repaired"].contains { verdict.contains($0) }
    }

    /// Whether the code corresponds to the fault in the manifest.
    private static func fits(_ code: ReasonCode, _ item: CorpusItem) -> Bool {
        let verdict = item.expected?.verdict ?? ""
        let chain: [ReasonCode] = [.issuerUnknown, .certificateSignatureInvalid]
        if verdict.contains("DER ends early") { return code == .asn1Truncated }
        if verdict.contains("trailing") { return code == .trailingBytes }
        if verdict.contains("invalid signature") { return code == .signatureInvalid }
        if verdict.contains("invalid chain") || verdict.contains("Apple roots") { return chain.contains(code) }
        switch item.kind {
        case "apple-signed-not-a-receipt":
            return [.payloadMalformed, .trailingBytes, .leafMarkerMissing, .signatureAlgorithmUnsupported].contains(
                code)
        case "forged-certificate": return code == .notSignedData
        default: return code.stage == .form || code.stage == .authenticity
        }
    }

    private func code(
        _ verifier: PurchaseVerifier, _ bytes: [UInt8], _ policies: [any PurchasePolicy]
    ) -> ReasonCode? {
        do throws(VerificationError) {
            _ = try verifier.verifyAppReceipt(bytes, policies: policies)
            return nil
        } catch {
            return error.code
        }
    }
}
