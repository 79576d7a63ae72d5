import Crypto
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("Apple's roots")
struct RootCertificateTests {
    @Test("The embedded roots have the fingerprints that Apple publishes", arguments: AppleRootCertificate.allCases)
    func fingerprint(_ root: AppleRootCertificate) throws {
        let fingerprint = SHA256.hash(data: root.der).map { String(format: "%02x", $0) }.joined()
        #expect(fingerprint == root.sha256Fingerprint)
        #expect(try TrustAnchor(certificate: root.der).subject.contains("CN=\(root.rawValue)"))
    }

    @Test("All three of Apple's roots are trusted")
    func anchors() {
        #expect(TrustAnchor.apple.count == 3)
        #expect(AppleRootCertificate.allCases.count == 3)
    }

    @Test(
        "They equal the files of the corpus", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"),
        arguments: [
            (AppleRootCertificate.appleRootCA, "AppleIncRootCertificate"),
            (.appleRootCAG2, "AppleRootCA-G2"), (.appleRootCAG3, "AppleRootCA-G3"),
        ])
    func sameAsCorpus(_ root: AppleRootCertificate, _ name: String) throws {
        #expect(root.der == [UInt8](try Corpus.read("certificates/\(name).der")))
    }
}

@Suite("Apple's authorities of transaction receipts")
struct IssuingAuthorityTests {
    @Test("Each key has the identifier that its certificate states", arguments: AppleIssuingAuthority.allCases)
    func identifier(_ authority: AppleIssuingAuthority) {
        // The SHA-1 of the key without the number of unused bits (RFC 5280, 4.2.1.2).
        let key = DERTree(authority.publicKeyInfo)[1].content.dropFirst()
        let identifier = Insecure.SHA1.hash(data: key).map { String(format: "%02x", $0) }.joined()
        #expect(identifier == authority.subjectKeyIdentifier)
    }

    @Test(
        "Each key equals the one in the corpus", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"),
        arguments: zip(
            AppleIssuingAuthority.allCases,
            [
                "AppleWWDRCA-2008", "AppleWWDRCA-G1", "AppleWWDRCA-G3", "AppleWWDRCA-G4", "AppleWWDRCA-G5",
                "AppleWWDRCA-G7", "AppleWWDRCA-G8", "AppleiTunesStoreCA",
            ]))
    func sameAsCorpus(_ authority: AppleIssuingAuthority, _ name: String) throws {
        let certificate = DERTree([UInt8](try Corpus.read("certificates/\(name).der")))
        #expect(certificate[0, 6].bytes == authority.publicKeyInfo)
    }
}
