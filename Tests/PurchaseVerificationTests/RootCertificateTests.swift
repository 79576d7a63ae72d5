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

    @Test("All three are trusted")
    func anchors() {
        #expect(TrustAnchor.apple.count == 3)
        #expect(AppleRootCertificate.allCases.count == 3)
    }

    @Test(
        "They are the files of the corpus", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"),
        arguments: [
            (AppleRootCertificate.appleRootCA, "AppleIncRootCertificate"),
            (.appleRootCAG2, "AppleRootCA-G2"), (.appleRootCAG3, "AppleRootCA-G3"),
        ])
    func sameAsCorpus(_ root: AppleRootCertificate, _ name: String) throws {
        #expect(root.der == [UInt8](try Corpus.read("certificates/\(name).der")))
    }
}
