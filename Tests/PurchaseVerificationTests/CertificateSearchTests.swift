import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("The search for a certificate path")
struct CertificateSearchTests {
    private static func verifier() throws -> PurchaseVerifier {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        return PurchaseVerifier(anchors: TrustAnchor.apple + anchors)
    }

    private static func code(of evidence: [UInt8]) throws -> ReasonCode? {
        let verifier = try verifier()
        do throws(VerificationError) {
            _ = try verifier.verify(evidence, policies: [])
            return nil
        } catch {
            return error.code
        }
    }

    /// Nine authorities of two names, 5 and 4: 45 pairs of certificates with the leaf, and 585 paths of at most four.
    @Test(
        "B.1 Each pair of certificates is checked once and weighed by its algorithm: nine cross-signed authorities weigh 45 with RSA-2048, 90 with P-256 and 135 with RSA-4096"
    )
    func weights() throws {
        let keys: [(SigningKey, exceeds: Bool)] = [
            (try .makeRSA(), false), (.makeP256(), true), (try .makeRSA(bits: 4096), true),
        ]
        for (key, exceeds) in keys {
            let code = try Self.code(of: try CrossSignedSet(authorities: 9, key: key).receipt())
            #expect((code == .pathBudgetExceeded) == exceeds, "\(key): \(String(describing: code))")
            #expect(code != nil)
        }
    }

    /// Two names of 4 authorities each weigh 4 + 16 + 16 checks, twice.
    @Test("B.1 The weight of 80 is exact: eight cross-signed authorities with P-256 weigh 72, nine weigh 90")
    func exact() throws {
        let key = SigningKey.makeP256()
        for count in 1...9 {
            let code = try Self.code(of: try CrossSignedSet(authorities: count, key: key).receipt())
            #expect((code == .pathBudgetExceeded) == (count == 9), "\(count): \(String(describing: code))")
        }
    }

    @Test("B.1 Embedded P-384 authorities are not looked at, unless they name a root that has P-384")
    func largeCurve() throws {
        #expect(try Self.code(of: try MintedWorld.mint(fault: .crossSigned)) == .issuerUnknown)
        #expect(
            try Self.code(of: try CrossSignedSet(authorities: 9, key: .makeP384()).receipt()) == .issuerUnknown)
        // Below the name of such a root, each of them weighs 16 for the leaf and 16 for the root: the third ends the
        // search.
        let root = try MintedWorld.store().signedPayload.root
        for count in 1...9 {
            let set = CrossSignedSet(authorities: count, key: .makeP384(), issuer: root.subject)
            #expect(
                try Self.code(of: try set.receipt())
                    == (count < 3 ? .certificateSignatureInvalid : .pathBudgetExceeded),
                "\(count)")
        }
    }

    @Test("B.1 Genuine evidence of every kind is verified, with impostors of its authorities in every free place")
    func genuine() throws {
        let authority = try MintedWorld.authority()
        let keys: [SigningKey] = [try .makeRSA(), .makeP256(), try .makeRSA(bits: 4096)]
        for key in keys {
            var isRSA = false
            if case .rsa = key { isRSA = true }
            var impostors: [[UInt8]] = []
            for number in 0..<7 {
                var template = CertificateTemplate(
                    issuer: authority.root.subject, subject: authority.intermediate.subject,
                    serialNumber: [UInt8(number + 1)], notBefore: CertificateTemplate.earliestDate,
                    notAfter: CertificateTemplate.latestDate)
                template.isAuthority = true
                template.keyUsage = [.certificateSigning]
                template.markers = [.intermediateMarker]
                template.signatureAlgorithm = isRSA ? .sha256WithRSA : .ecdsaWithSHA256
                impostors.append(try template.signed(by: key, publicKeyInfo: key.publicKeyInfo))
            }
            var signing = SigningOptions()
            signing.embeddedCertificates =
                [authority.leaf.certificate] + impostors + [authority.intermediate, authority.root].map(\.certificate)
            #expect(try Self.code(of: try MintedWorld.mint(signing: signing)) == nil, "\(key)")
        }
        for payload in MintedWorld.signedPayload() {
            #expect(try Self.code(of: try MintedWorld.mint(payload)) == nil)
        }
        for version in MintedVersion.allCases {
            #expect(try Self.code(of: try MintedWorld.mint(MintedWorld.transactionReceipt(), version)) == nil)
        }
    }
}
