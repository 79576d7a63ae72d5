import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// What Apple's bytes have in common and other tools stumble over (docs/other-tools.md). Read by a parser of the tests.
@Suite("Bytes as Apple writes them", .enabled(if: Corpus.isPresent, "\(Corpus.absence)"))
struct AppleByteTests {
    private func isInDEROrder(_ elements: [DERTree]) -> Bool {
        let bytes = elements.map(\.bytes)
        return bytes == bytes.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// Whether each certificate but the last, which signed itself, names the next one as its issuer.
    private func isChain(_ certificates: [UnverifiedCertificate]) -> Bool {
        let issuers = certificates.dropFirst() + certificates.suffix(1)
        return zip(certificates, issuers).allSatisfy { $0.issuer == $1.subject }
    }

    @Test("The attributes of receipts are in DER order; their certificates are leaf, intermediate, root, which is not")
    func orderInReceipts() throws {
        let items = try Corpus.items("app-receipt").filter { $0.expected?.verdict == "genuine" }
        try #require(items.count > 100)
        var purchases = 0
        for item in items {
            let message = DERTree(try RecognizedEvidence(try item.bytes()).bytes)[1, 0]
            let attributes = DERTree(message[2, 1, 0].content)
            #expect(attributes.tag == 0x31 && isInDEROrder(attributes.children), "\(item.name)")
            for attribute in attributes.children where attribute[0].content == [17] {
                #expect(isInDEROrder(DERTree(attribute[2].content).children), "\(item.name)")
                purchases += 1
            }
            #expect(message[3].children.count == 3 && !isInDEROrder(message[3].children), "\(item.name)")
            let certificates = PurchaseVerifier().inspect(try item.bytes(), policies: []).certificates
            #expect(certificates.map(\.der) == message[3].children.map(\.bytes), "\(item.name)")
            #expect(isChain(certificates), "\(item.name)")
        }
        #expect(purchases > 0)
        print("corpus: attributes of \(items.count) receipts and \(purchases) purchases in DER order, certificates not")
    }

    @Test("Xcode's receipts have one certificate")
    func xcode() throws {
        for item in try Corpus.items("app-receipt-xcode") {
            #expect(PurchaseVerifier().inspect(try item.bytes(), policies: []).certificates.count == 1, "\(item.name)")
        }
    }

    @Test("Some issuers signed with SHA-1; leaves of transaction receipts of 2009 and 2014 have keys of 1,024 bits")
    func oldCertificates() throws {
        let items = try Corpus.items().filter { $0.kind == "app-receipt" || $0.kind == "transaction-receipt" }
        let certificates = try items.flatMap { PurchaseVerifier().inspect(try $0.bytes(), policies: []).certificates }
        let isOfSHA1 = { (one: UnverifiedCertificate) in
            one.issuer != one.subject && one.signatureAlgorithm == "sha1WithRSAEncryption"
        }
        #expect(certificates.contains(where: isOfSHA1))
        let years = certificates.filter {
            $0.publicKey.contains("1024") && $0.subject.contains("PurchaseReceiptCertificate")
        }
        .map { $0.notBefore.description.prefix(4) }
        #expect(Set(years) == ["2009", "2014"])
    }

    @Test("Headers of signed data have three certificates and over 512 bytes; transactions of 2021 have no environment")
    func signedData() throws {
        let items = try Corpus.items().filter {
            $0.kind.hasPrefix("jws-") && $0.expected?.verdict?.hasPrefix("genuine") == true
        }
        try #require(!items.isEmpty)
        for item in items {
            let text = String(decoding: try item.bytes(), as: UTF8.self)
            let header = try #require(text.split(separator: ".").first)
            #expect(header.utf8.count > 512 * 4 / 3, "\(item.name)")
            let certificates = PurchaseVerifier().inspect(Array(text.utf8), policies: []).certificates
            #expect(certificates.count == 3 && isChain(certificates), "\(item.name)")
        }
        let old = items.filter {
            $0.kind == "jws-transaction" && ($0.signedDateMilliseconds ?? .max) < 1_640_995_200_000
        }
        try #require(!old.isEmpty)
        for item in old {
            let text = String(decoding: try item.bytes(), as: UTF8.self).components(separatedBy: ".")[1]
            let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            let padding = String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
            let claims = try #require(Data(base64Encoded: base64 + padding))
            let object = try #require(try JSONSerialization.jsonObject(with: claims) as? [String: Any])
            #expect(object["transactionId"] != nil && object["environment"] == nil, "\(item.name)")
        }
    }
}
