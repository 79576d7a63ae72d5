import EvidenceMint
import Foundation
import Testing

@Suite("A certificate template")
struct CertificateTests {
    @Test("writes the given fields")
    func fields() throws {
        var template = CertificateTemplate.receiptLeaf
        template.version = nil
        template.serialNumber = [0x00, 0x80]
        template.innerSignatureAlgorithm = .sha512WithRSA
        template.publicKeyInfo = SigningKey.rsaPublicKeyInfo(modulus: [0x80], exponent: [3])
        template.omitsExtensions = true
        let parts = try ASN1Element(try mint(template)).children()
        let signed = try parts[0].children()
        #expect(signed.map(\.tag) == [0x02, 0x30, 0x30, 0x30, 0x30, 0x30])
        #expect(signed[0].content == [0x00, 0x80])
        #expect(try signed[1].descend(0).content.hex == "2a864886f70d01010d")
        #expect(try parts[1].descend(0).content.hex == "2a864886f70d01010b")
        #expect(try signed[3].children().map(\.text) == ["080101000000Z", "491231235959Z"])
        #expect(signed[5].encoded == template.publicKeyInfo)
    }

    @Test("writes dates after 2049 and before 1950 with years of four digits")
    func dates() throws {
        var template = CertificateTemplate.receiptLeaf
        template.notBefore = Date(timeIntervalSince1970: -631_152_001)
        template.notAfter = CertificateTemplate.latestDate.addingTimeInterval(1)
        let validity = try ASN1Element(try mint(template)).descend(0, 4).children()
        #expect(validity.map(\.tag) == [0x18, 0x18])
        #expect(validity.map(\.text) == ["19491231235959Z", "20500101000000Z"])
    }

    @Test(
        "writes key usage as a bit list without trailing zeros",
        arguments: [
            (0b1, "03020780"), (0b110_0000, "03020106"), (0b10_0001, "03020284"), (0b1_0000_0000, "0303070080"),
            (0, "030100"),
        ])
    func keyUsage(bits: UInt16, hex: String) throws {
        var template = CertificateTemplate.receiptLeaf
        template.keyUsage = CertificateTemplate.KeyUsage(rawValue: bits)
        let extensions = try ASN1Element(try mint(template)).descend(0, 7, 0).children()
        let found = try extensions.first { try $0.descend(0).content == [0x55, 0x1D, 0x0F] }
        #expect(try found?.descend(1).encoded == [0x01, 0x01, 0xFF], "critical")
        #expect(try found?.descend(2).content.hex == hex)
    }

    @Test("writes a marker as Apple does: not critical, value NULL")
    func marker() throws {
        let extensions = try ASN1Element(try mint(.receiptLeaf)).descend(0, 7, 0).children()
        #expect(extensions.last?.encoded.hex == "3010060a2a864886f76364060b0104020500")
    }

    @Test("is read back with the same fields", .enabled(if: OpenSSL.isInstalled, OpenSSL.absence))
    func described() throws {
        let authority = try World.authority()
        let root = try describe(authority.root.certificate)
        #expect(root.contains("Issuer: CN = Assay Simulator Root CA, O = Assay Simulator"))
        #expect(root.contains("CA:TRUE\n"))
        #expect(root.contains("Certificate Sign, CRL Sign"))
        let intermediate = try describe(authority.intermediate.certificate)
        #expect(intermediate.contains("CA:TRUE, pathlen:0"))
        #expect(intermediate.contains("1.2.840.113635.100.6.2.1:"))
        let leaf = try describe(authority.leaf.certificate)
        #expect(leaf.contains("CA:FALSE"))
        #expect(leaf.contains("Not Before: Jan  1 00:00:00 2008 GMT"))
        #expect(leaf.contains("Not After : Dec 31 23:59:59 2049 GMT"))
        #expect(leaf.contains("Exponent: 65537 (0x10001)"))
        #expect(leaf.contains("1.2.840.113635.100.6.11.1:"))
        #expect(leaf.contains("sha256WithRSAEncryption"))
    }

    @Test("makes chains of any keys and digests that verify", .enabled(if: OpenSSL.isInstalled, OpenSSL.absence))
    func chains() throws {
        let p256 = SigningKey.makeP256()
        let p384 = SigningKey.makeP384()
        let rsa = try World.authority().root.privateKey
        let chains: [(SigningKey, CertificateTemplate.SignatureAlgorithm, SigningKey)] = [
            (rsa, .sha1WithRSA, p256), (rsa, .sha384WithRSA, p384), (rsa, .sha512WithRSA, p256),
            (p256, .ecdsaWithSHA256, p384), (p384, .ecdsaWithSHA384, p256), (p384, .ecdsaWithSHA512, p256),
        ]
        for (upper, algorithm, lower) in chains {
            var root = CertificateTemplate.receiptRoot
            root.signatureAlgorithm = algorithm
            var intermediate = CertificateTemplate.receiptIntermediate
            intermediate.signatureAlgorithm = algorithm
            var leaf = CertificateTemplate.receiptLeaf
            leaf.signatureAlgorithm = .ecdsaWithSHA256
            let text = try verify(
                root: root.signed(by: upper, publicKeyInfo: upper.publicKeyInfo),
                intermediate: intermediate.signed(by: upper, publicKeyInfo: lower.publicKeyInfo),
                leaf: leaf.signed(by: lower, publicKeyInfo: p256.publicKeyInfo)
            )
            #expect(text.contains("leaf.der: OK"), "\(algorithm) \(text)")
        }
    }

    @Test("makes chains that do not verify, each for its reason", .enabled(if: OpenSSL.isInstalled, OpenSSL.absence))
    func brokenChains() throws {
        let authority = try World.authority()
        func verdict(_ changed: CertificateAuthority) throws -> String {
            try verify(
                root: changed.root.certificate,
                intermediate: changed.intermediate.certificate,
                leaf: changed.leaf.certificate
            )
        }
        #expect(try verdict(authority).contains("leaf.der: OK"))
        #expect(
            try verdict(authority.replacingIntermediate { $0.isAuthority = nil }).contains("invalid CA certificate")
        )
        #expect(try verdict(authority.replacingLeaf { $0.notAfter = World.creationDate }).contains("has expired"))
        #expect(
            try verdict(
                authority.replacingLeaf { leaf in
                    leaf.extraExtensions = [.init(oid: "2.999.1", isCritical: true, value: [0x05, 0x00])]
                }
            ).contains("unhandled critical extension")
        )
        #expect(
            try verdict(authority.replacingIntermediate { $0.keyUsage = .digitalSignature })
                .contains("key usage does not include certificate signing")
        )
    }

    private func mint(_ template: CertificateTemplate) throws -> [UInt8] {
        let authority = try World.authority()
        return try template.signed(
            by: authority.intermediate.privateKey,
            publicKeyInfo: authority.leaf.privateKey.publicKeyInfo
        )
    }

    private func describe(_ certificate: [UInt8]) throws -> String {
        let scratch = try ScratchFolder()
        let file = try scratch.file("certificate.der", certificate)
        return try OpenSSL.run(["x509", "-inform", "DER", "-in", file, "-noout", "-text"]).text
    }

    private func verify(root: [UInt8], intermediate: [UInt8], leaf: [UInt8]) throws -> String {
        let scratch = try ScratchFolder()
        return try OpenSSL.run([
            "verify", "-x509_strict", "-no-CApath", "-no-CAstore",
            "-CAfile", try scratch.file("root.pem", Array(pem(root).utf8)),
            "-untrusted", try scratch.file("intermediate.der", intermediate),
            try scratch.file("leaf.der", leaf),
        ]).text
    }

    private func pem(_ certificate: [UInt8]) -> String {
        let base64 = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }
}
