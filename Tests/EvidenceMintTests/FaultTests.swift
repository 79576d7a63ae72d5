import EvidenceMint
import Foundation
import Testing

@Suite("A fault")
struct FaultTests {
    @Test("changes the bytes of the receipt", arguments: ReceiptFault.allCases)
    func changesBytes(fault: ReceiptFault) throws {
        let encoder = try World.encoder()
        #expect(try encoder.encode(World.receipt, fault: fault) != encoder.encode(World.receipt))
    }

    @Test("changes the bytes of a receipt without purchases, in BER with SHA-1", arguments: ReceiptFault.allCases)
    func changesOddBytes(fault: ReceiptFault) throws {
        let encoder = try World.encoder()
        var options = SigningOptions.xcode
        options.digest = .sha1
        options.wrapsPayloadTwice = true
        var receipt = World.receipt
        receipt.purchases = []
        #expect(
            try encoder.encode(receipt, signing: options, fault: fault) != encoder.encode(receipt, signing: options)
        )
    }

    @Test("has a lower-case name with hyphens, and an explanation", arguments: ReceiptFault.allCases)
    func names(fault: ReceiptFault) {
        #expect(fault.rawValue.allSatisfy { $0 == "-" || ("a"..."z").contains($0) })
        #expect(ReceiptFault(rawValue: fault.rawValue) == fault)
        #expect(fault.explanation.hasSuffix("."))
    }

    @Test("flips one bit, and leaves a payload that still parses")
    func flips() throws {
        let encoder = try World.encoder()
        let good = try encoder.encode(World.receipt)
        for fault in [ReceiptFault.flippedPayloadByte, .flippedSignatureByte, .flippedLeafCertificateByte] {
            let bad = try encoder.encode(World.receipt, fault: fault)
            #expect(good.count == bad.count)
            let differences = zip(good, bad).filter { $0 != $1 }.map { ($0 ^ $1).nonzeroBitCount }
            #expect(differences == [1], "\(fault)")
            let payload = try ASN1Element(bad).descend(1, 0, 2, 1, 0).content
            #expect(try ReadAttribute.all(payload).map(\.type).sorted().first == 0)
        }
    }

    @Test(
        "of the certificates leaves the payload unchanged, and names the signer by its certificate",
        arguments: [
            ReceiptFault.wrongRoot, .missingLeafMarker, .missingIntermediateMarker, .expiredLeaf, .leafNotYetValid,
            .expiredIntermediate, .developerCertificate, .notAnAuthority, .pathLengthExceeded, .intermediateKeyUsage,
            .leafKeyUsage, .unknownCriticalExtension, .wrongIssuerName, .weakLeafKey, .crossSigned,
        ])
    func certificates(fault: ReceiptFault) throws {
        let message = try ASN1Element(try World.encoder().encode(World.receipt, fault: fault))
        #expect(try message.descend(1, 0, 2, 1, 0).content == World.receipt.payload())

        let certificates = try message.descend(1, 0, 3).children()
        #expect(certificates.count == (fault == .pathLengthExceeded ? 4 : fault == .crossSigned ? 10 : 3))
        let leaf = certificates[0]
        #expect(try message.descend(1, 0, 4, 0, 1, 0).encoded == leaf.descend(0, 3).encoded, "issuer")
        #expect(try message.descend(1, 0, 4, 0, 1, 1).encoded == leaf.descend(0, 1).encoded, "serial number")
    }

    @Test("of the root keeps the names and replaces the keys")
    func wrongRoot() throws {
        let authority = try World.authority()
        let message = try ASN1Element(try World.encoder().encode(World.receipt, fault: .wrongRoot))
        let forged = try message.descend(1, 0, 3).children()
        for (certificate, genuine) in zip(forged, [authority.leaf, authority.intermediate, authority.root]) {
            let original = try ASN1Element(genuine.certificate)
            #expect(try certificate.descend(0, 5).encoded == original.descend(0, 5).encoded, "subject")
            #expect(try certificate.descend(0, 6).encoded != original.descend(0, 6).encoded, "public key")
        }
    }

    @Test("B.5 of the name cross-signed adds nine authorities of two names, each issued by the other name")
    func crossSigned() throws {
        let fault = try #require(ReceiptFault(rawValue: "cross-signed"))
        let message = try ASN1Element(try World.encoder().encode(World.receipt, fault: fault))
        let certificates = try message.descend(1, 0, 3).children()
        let names = try certificates.map { certificate in
            (issuer: try certificate.descend(0, 3).encoded, subject: try certificate.descend(0, 5).encoded)
        }
        let authorities = names.dropFirst()
        #expect(authorities.count == 9 && Set(authorities.map(\.subject)).count == 2)
        for authority in authorities {
            #expect(authority.issuer != authority.subject)
            #expect(authorities.contains { $0.subject == authority.issuer })
        }
        #expect(names[0].issuer == authorities.first?.subject)
        // The P-384 point takes 97 bytes.
        let key = try certificates[1].descend(0, 6, 1).content
        #expect(key.count == 98)
    }

    @Test("of the leaf's key makes it 1024 bits long")
    func weakLeafKey() throws {
        let message = try ASN1Element(try World.encoder().encode(World.receipt, fault: .weakLeafKey))
        let key = try message.descend(1, 0, 3, 0, 0, 6, 1).content.dropFirst()
        #expect(try ASN1Element(Array(key)).descend(0).content.drop { $0 == 0 }.count == 128)
        #expect(try message.descend(1, 0, 4, 0, 4).content.count == 128)
    }

    @Test("of the content changes only the payload")
    func content() throws {
        #expect(try types(.missingCreationDate) == types(nil).filter { $0 != 12 })
        #expect(try types(.missingBundleID) == types(nil).filter { $0 != 2 })
        #expect(try types(.missingReceiptType) == types(nil).filter { $0 != 0 })
        #expect(try types(.duplicateAttribute).filter { $0 == 2 }.count == 2)
        #expect(try types(.malformedDate) == types(nil))

        for purchase in try attributes(.noTransactionID) where purchase.type == 17 {
            #expect(try ReadAttribute.all(purchase.value)[type: 1703] == nil)
        }
        let sequence = try payload(.payloadNotASet)
        #expect(sequence == [0x30] + World.receipt.payload().dropFirst())
    }

    @Test("of the signers changes only the signers")
    func signers() throws {
        let encoder = try World.encoder()
        func signedPayload(_ fault: ReceiptFault) throws -> [ASN1Element] {
            try ASN1Element(try encoder.encode(World.receipt, fault: fault)).descend(1, 0).children()
        }
        let leaf = encoder.authority.leaf.certificate
        #expect(try signedPayload(.noSigner)[4].children().isEmpty)
        #expect(try signedPayload(.twoSigners)[4].children().count == 2)
        #expect(try signedPayload(.noCertificates).map(\.tag) == [0x02, 0x31, 0x30, 0x31])
        #expect(try signedPayload(.signerNotEmbedded)[3].children().contains { $0.encoded == leaf } == false)
        #expect(try signedPayload(.duplicateCertificate)[3].children().filter { $0.encoded == leaf }.count == 2)
        #expect(try signedPayload(.digestMismatch)[1].content != signedPayload(.noSigner)[1].content)
        #expect(try signedPayload(.nonMinimalLength)[1].encoded.prefix(3) == [0x31, 0x81, 0x0F])
        #expect(try signedPayload(.wrongContentType)[2].descend(0).content.hex == "2a864886f70d010705")
        #expect(try signedPayload(.signedAttributesWithoutDigest)[4].descend(0, 3).children().count == 1)
        #expect(try signedPayload(.wrongMessageDigest)[4].descend(0, 3).children().count == 2)
    }

    private func payload(_ fault: ReceiptFault?) throws -> [UInt8] {
        try ASN1Element(try World.encoder().encode(World.receipt, fault: fault)).descend(1, 0, 2, 1, 0).content
    }

    private func attributes(_ fault: ReceiptFault?) throws -> [ReadAttribute] {
        try ReadAttribute.all(try payload(fault))
    }

    private func types(_ fault: ReceiptFault?) throws -> [Int] {
        try attributes(fault).map(\.type).sorted()
    }
}
