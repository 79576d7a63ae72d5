import EvidenceMint
import Foundation
import Testing

@Suite("A signed receipt")
struct EncoderTests {
    @Test("has Apple's layers: signed data of version 1, SHA-256, data, three certificates, one signer")
    func layers() throws {
        let authority = try World.authority()
        let message = try ASN1Element(try World.encoder().encode(World.receipt))
        let signedData = try message.descend(1, 0)
        let parts = try signedData.children()
        #expect(parts.map(\.tag) == [0x02, 0x31, 0x30, 0xA0, 0x31])
        #expect(parts[0].content == [1])
        #expect(try parts[1].descend(0).encoded.hex == "300d06096086480165030402010500")
        #expect(try parts[2].descend(0).content.hex == "2a864886f70d010701")
        #expect(try parts[2].descend(1, 0).content == World.receipt.payload())
        #expect(
            try parts[3].children().map(\.encoded)
                == [authority.leaf, authority.intermediate, authority.root].map(\.certificate)
        )

        let signers = try parts[4].children()
        #expect(signers.count == 1)
        let signer = try signers[0].children()
        #expect(signer.map(\.tag) == [0x02, 0x30, 0x30, 0x30, 0x04], "no signed attributes")
        #expect(try signer[1].descend(0).encoded == authority.leaf.issuer.der)
        #expect(try signer[1].descend(1).content == authority.leaf.serialNumber)
        #expect(try signer[3].descend(0).content.hex == "2a864886f70d010101", "rsaEncryption")
        #expect(try signer[3].descend(1).encoded == [0x05, 0x00])
        #expect(signer[4].content.count == 256)
    }

    @Test("has the same bytes for the same content")
    func reproducible() throws {
        let encoder = try World.encoder()
        #expect(try encoder.encode(World.receipt) == encoder.encode(World.receipt))
    }

    @Test("in base64 is one line of the same bytes")
    func base64() throws {
        let encoder = try World.encoder()
        let text = try encoder.encodeBase64(World.receipt)
        #expect(!text.contains { $0.isWhitespace })
        #expect(Data(base64Encoded: text) == Data(try encoder.encode(World.receipt)))
    }

    @Test("can wrap the payload in one more OCTET STRING")
    func wrappedTwice() throws {
        var options = SigningOptions()
        options.wrapsPayloadTwice = true
        let message = try ASN1Element(try World.encoder().encode(World.receipt, signing: options))
        let content = try message.descend(1, 0, 2, 1, 0).content
        let inner = try ASN1Element(content)
        #expect(inner.tag == 0x04)
        #expect(inner.content == World.receipt.payload())
    }

    @Test(
        "in Xcode's BER has indefinite lengths around the payload, which may come in pieces",
        arguments: [
            nil, 1, 100, 100_000,
        ])
    func xcodeBER(pieceLength: Int?) throws {
        var options = SigningOptions()
        options.encoding = .xcodeBER
        options.pieceLength = pieceLength
        let payload = World.receipt.payload()
        let message = try ASN1Element(try World.encoder().encode(World.receipt, signing: options))
        let content = try message.descend(1, 0, 2, 1, 0)
        let signedData = try message.descend(1, 0)
        for layer in [message, try message.descend(1), signedData, try signedData.descend(2), content] {
            #expect(layer.isIndefinite)
        }
        let pieces = try content.children()
        #expect(content.tag == 0x24)
        #expect(pieces.allSatisfy { $0.tag == 0x04 && !$0.isIndefinite })
        #expect(pieces.flatMap(\.content) == payload)
        let length = pieceLength ?? payload.count
        #expect(pieces.count == (payload.count + length - 1) / length)
        #expect(try message.descend(1, 0, 3).isIndefinite == false)
    }

    @Test("embeds the given certificates, and names the given signer")
    func overrides() throws {
        let authority = try World.authority()
        var options = SigningOptions()
        options.certificates = [.root, .leaf]
        options.payload = [0x31, 0x00]
        options.signerIssuer = CertificateTemplate.Name(commonName: "Somebody")
        options.signerSerialNumber = [0x2A]
        var message = try ASN1Element(try World.encoder().encode(World.receipt, signing: options))
        #expect(
            try message.descend(1, 0, 3).children().map(\.encoded)
                == [authority.root, authority.leaf].map(\.certificate)
        )
        #expect(try message.descend(1, 0, 2, 1, 0).content == [0x31, 0x00])
        #expect(try message.descend(1, 0, 4, 0, 1, 0).encoded == options.signerIssuer?.der)
        #expect(try message.descend(1, 0, 4, 0, 1, 1).content == [0x2A])

        options.embeddedCertificates = [[0x30, 0x00]]
        message = try ASN1Element(try World.encoder().encode(World.receipt, signing: options))
        #expect(try message.descend(1, 0, 3).content == [0x30, 0x00])
    }

    @Test("from Xcode has one self-signed certificate, and names digest and key in one algorithm")
    func xcode() throws {
        let signer = try World.xcodeSigner()
        let receipt = AppReceiptTemplate.xcode(bundleID: World.bundleID, creationDate: World.creationDate)
        let message = try ASN1Element(try signer.encode(receipt))
        #expect(message.isIndefinite)
        #expect(try message.descend(1, 0, 3).children().map(\.encoded) == [signer.identity.certificate])
        #expect(try message.descend(1, 0, 4, 0, 3, 0).content.hex == "2a864886f70d01010b", "sha256WithRSAEncryption")
        #expect(signer.identity.subject == signer.identity.issuer)
    }
}
