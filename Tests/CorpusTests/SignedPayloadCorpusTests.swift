import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Every real JWS verifies, and all others are refused.
@Suite("Signed data of the corpus", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct SignedPayloadCorpusTests {
    private let verifier = PurchaseVerifier()
    private let storePolicies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: [.production, .sandbox])]

    private static let kinds: [String: EvidenceKind] = [
        "jws-transaction": .signedTransaction, "jws-renewalInfo": .signedRenewalInfo,
        "jws-appTransaction": .appTransaction, "jws-notification": .notification,
    ]

    @Test("All genuine signed data verifies at its own date, with the content that the manifest states")
    func genuine() throws {
        let items = try Corpus.items().filter {
            Self.kinds[$0.kind] != nil && $0.expected?.verdict?.hasPrefix("genuine") == true
        }
        #expect(Set(items.map(\.kind)) == Set(Self.kinds.keys))
        var counts: [String: Int] = [:]
        for item in items {
            let bytes = try item.bytes()
            do throws(VerificationError) {
                let evidence = try verifier.verify(bytes, policies: storePolicies)
                #expect(evidence.kind == Self.kinds[item.kind], "\(item.name)")
                compare(evidence, item)
                counts[evidence.kind.rawValue, default: 0] += 1
            } catch {
                Issue.record("\(item.name): \(error)")
            }
            #expect(verifier.inspect(bytes, policies: storePolicies).firstFailure == nil, "\(item.name)")
        }
        let verified = counts.values.reduce(0, +)
        #expect(verified == items.count)
        #expect(verifier.rememberedHeaders > 1)
        print("corpus: \(verified) of \(items.count) genuine JWS verified: \(counts)")
    }

    private func compare(_ evidence: VerifiedEvidence, _ item: CorpusItem) {
        let facts = evidence.facts
        #expect(facts.signingDate?.millisecondsSince1970 == item.signedDateMilliseconds, "\(item.name)")
        #expect(facts.bundleID == item.bundleID, "\(item.name)")
        // Data of 2021 does not state it.
        if let environment = item.environment { #expect(facts.environment?.name == environment, "\(item.name)") }
        switch evidence {
        case .signedTransaction(let transaction):
            #expect(transaction.productID == item.productID, "\(item.name)")
            #expect(!transaction.transactionID.isEmpty && transaction.purchaseDate != nil, "\(item.name)")
        case .signedRenewalInfo(let renewalInfo): #expect(renewalInfo.productID == item.productID, "\(item.name)")
        case .notification(let notification):
            #expect(notification.notificationType?.rawValue == item.notification?.first ?? nil, "\(item.name)")
            let carries = item.contains?.contains("signedTransactionInfo") == true
            #expect((notification.transaction != nil) == carries, "\(item.name)")
        default: break
        }
    }

    @Test("Xcode's signed data verifies only with its own certificate as anchor and Xcode accepted")
    func xcode() throws {
        let items = try Corpus.items("jws-xcode")
        try #require(!items.isEmpty)
        let xcodePolicies: [any PurchasePolicy] = [EnvironmentPolicy(accepting: [.xcode])]
        for item in items {
            let bytes = try item.bytes()
            let certificate = try #require(verifier.inspect(bytes, policies: []).certificates.first)
            let trusting = PurchaseVerifier(
                anchors: TrustAnchor.apple + [try TrustAnchor(certificate: certificate.der)])
            #expect(code(verifier, bytes, storePolicies) == .issuerUnknown, "\(item.name)")
            #expect(code(verifier, bytes, xcodePolicies) == .issuerUnknown, "\(item.name)")
            #expect(code(trusting, bytes, storePolicies) == .environmentNotAccepted, "\(item.name)")
            #expect(code(trusting, bytes, xcodePolicies) == nil, "\(item.name)")
        }
        print("corpus: \(items.count) JWS of Xcode verified with their own anchor only")
    }

    @Test("Apple's test data verifies only below Apple's test authority")
    func testAuthority() throws {
        let items = try Corpus.items("jws-apple-test-ca").filter { $0.expected?.verdict?.hasPrefix("valid") == true }
        let root = try #require(try Corpus.items("certificate-test-root").first)
        try #require(!items.isEmpty)
        let trusting = PurchaseVerifier(anchors: [try TrustAnchor(certificate: try root.bytes())])
        for item in items {
            let bytes = try item.bytes()
            #expect(code(trusting, bytes, [EnvironmentPolicy(accepting: [.sandbox])]) == nil, "\(item.name)")
            #expect(code(trusting, bytes, [BundleIDPolicy("com.example")]) == nil, "\(item.name)")
            #expect(code(verifier, bytes, storePolicies) == .issuerUnknown, "\(item.name)")
        }
        // Data without certificates, or with another marker, is still refused below the same authority.
        for item in try Corpus.items("jws-apple-test-ca") where item.expected?.verdict?.hasPrefix("invalid") == true {
            #expect(code(trusting, try item.bytes(), []) != nil, "\(item.name)")
        }
        print("corpus: \(items.count) JWS of Apple's test authority verified below it only")
    }

    @Test("Everything that must not verify is refused with its code")
    func negative() throws {
        let expected: [String: Set<ReasonCode>] = [
            "jws-alg-none.jws": [.jwsAlgorithmUnsupported], "jws-payload-changed.jws": [.signatureInvalid],
            "jws-x5c-leaf-only.jws": [.issuerUnknown],
            // The third certificate is not checked, but the header is signed.
            "jws-x5c-root-swapped.jws": [.signatureInvalid],
            "apple-test-missingX5CHeaderClaim.jws": [.certificatesMissing],
            "expired-cert-fresh.jws": [.certificateExpired],
            "transaction-no-leaf-oid.jws": [.issuerUnknown, .certificateSignatureInvalid],
        ]
        let items = try Corpus.items().filter { $0.file.hasPrefix("negative/") && $0.file.hasSuffix(".jws") }
        try #require(!items.isEmpty)
        for item in items {
            let found = code(verifier, try item.bytes(), storePolicies)
            #expect(found.map { expected[item.name]?.contains($0) == true } == true, "\(item.name): \(found as Any)")
        }
        print("corpus: \(items.count) negative JWS refused")
    }

    private func code(
        _ verifier: PurchaseVerifier, _ bytes: [UInt8], _ policies: [any PurchasePolicy]
    ) -> ReasonCode? {
        do throws(VerificationError) {
            _ = try verifier.verify(bytes, policies: policies)
            return nil
        } catch {
            return error.code
        }
    }
}
