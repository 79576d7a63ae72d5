import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport

/// Faults of the form of evidence and of its CMS container.
enum ContainerCounterExamples {
    static let all = evidence + asn1 + container + signer

    static let evidence: [CounterExample] = [
        CounterExample(.evidenceEmpty, "no bytes") { [] },
        CounterExample(.evidenceEmpty, "nothing but white space") { Array(" \r\n\t".utf8) },
        CounterExample(.evidenceTooLarge, "one byte more than may be") {
            [UInt8](repeating: UInt8(ascii: "A"), count: (16 << 20) + 1)
        },
        CounterExample(.evidenceUnrecognized, "bytes that are nothing") { [0xFF, 0xD8, 0xFF, 0xE0] },
        CounterExample(.evidenceUnrecognized, "base64 of bytes that are nothing") { Array("/9j/4AAQ".utf8) },
        CounterExample(.evidenceUnsupported, "a transaction receipt as app receipt", entry: .appReceipt) {
            try MintedWorld.mint(MintedWorld.transactionReceipt(), .four)
        },
        CounterExample(.jwsInsteadOfReceipt, "a signed transaction as app receipt", entry: .appReceipt) {
            try MintedWorld.mint(MintedWorld.transaction())
        },
        CounterExample(.base64Malformed, "a character that is not base64") {
            var text = Array(Data(try MintedWorld.mint()).base64EncodedString().utf8)
            text[200] = UInt8(ascii: "*")
            return text
        },
        CounterExample(.base64Malformed, "three characters missing of four") {
            let text = Data(try MintedWorld.mint()).base64EncodedString()
            return Array(text.utf8.prefix(text.utf8.count / 4 * 4 - 7))
        },
    ]

    static let asn1: [CounterExample] = [
        .minted(.asn1Truncated, .truncated),
        .minted(.trailingBytes, .trailingBytes),
        .minted(.asn1LengthNotMinimal, .nonMinimalLength),
        CounterExample(.asn1LengthNotMinimal, "an outer length with a leading zero") {
            let bytes = try MintedWorld.mint()
            return [bytes[0], 0x83, 0] + bytes[2...]
        },
        .container(.asn1IntegerNotMinimal, "the version of SignedPayload as 00 01") {
            $0.signedPayload[0].content = [0, 1]
        },
        .container(.asn1IntegerNotMinimal, "an empty version") { $0.signedPayload[0].content = [] },
        .container(.asn1IntegerNotMinimal, "a serial number with a leading zero") {
            $0.signerInfo[1, 1].content = [0, 0x43]
        },
        .container(.asn1Malformed, "a tag number in two bytes") { $0.signedPayload[0].raw = [0x1F, 0x02, 0x01, 0x01] },
        .container(.asn1Malformed, "a length of five bytes") {
            $0.signedPayload[0].raw = [0x02, 0x85, 0, 0, 0, 0, 1, 1]
        },
        .container(.asn1Malformed, "the version as a BOOLEAN") { $0.signedPayload[0].tag = 0x01 },
        .container(.asn1Malformed, "a primitive with an indefinite length") {
            $0.signedPayload[0].raw = [0x02, 0x80, 0x01, 0, 0]
        },
        .container(.asn1Truncated, "an element that ends beyond its container") {
            $0.signedPayload[4].raw = [0x31, 0x7F, 0x00]
        },
        CounterExample(.asn1Truncated, "an indefinite length that nothing ends") { [0x30, 0x80, 0x06, 0x00] },
        CounterExample(.asn1TooDeep, "a thousand indefinite lengths") {
            [UInt8](repeating: 0, count: 2000).enumerated().map { $0.offset % 2 == 0 ? 0x30 : 0x80 }
        },
        .container(.trailingBytes, "an element behind the signer infos") {
            $0.signedPayload.children.append(DERTree(tag: 0x05, content: []))
        },
        .container(.trailingBytes, "unsigned attributes") {
            $0.signerInfo.children.append(DERTree(tag: 0xA1, children: []))
        },
        .container(.asn1Malformed, "revocation lists") {
            $0.signedPayload.children.insert(DERTree(tag: 0xA1, children: []), at: 4)
        },
    ]

    static let container: [CounterExample] = [
        CounterExample(.notSignedData, "an empty SEQUENCE") { [0x30, 0x00] },
        CounterExample(.notSignedData, "a certificate") { try MintedWorld.authority().root.certificate },
        .container(.notSignedData, "the content type of enveloped data") { $0[0].content[8] = 3 },
        .container(.signedDataVersionUnsupported, "version 3") { $0.signedPayload[0].content = [3] },
        .minted(.contentTypeUnsupported, .wrongContentType),
        .container(.contentMissing, "no content") { $0.signedPayload[2].children.removeLast() },
        .container(.contentMissing, "empty content") { $0.signedPayload[2, 1, 0].content = [] },
        .minted(.certificatesMissing, .noCertificates),
        .container(.certificatesMissing, "an empty set of certificates") { $0.signedPayload[3].children = [] },
        .container(.tooManyCertificates, "eleven certificates") { tree in
            let root = tree.signedPayload[3, 2]
            tree.signedPayload[3].children += [DERTree](repeating: root, count: 8)
        },
        .minted(.certificateDuplicated, .duplicateCertificate),
        .minted(.payloadMalformed, .payloadNotASet),
        .payload(.payloadMalformed, "an octet string in an octet string in an octet string") { tree in
            tree = DERTree(tag: 0x04, content: DERTree(tag: 0x04, content: tree.bytes).bytes)
        },
    ]

    static let signer: [CounterExample] = [
        .minted(.signerCountUnsupported, .noSigner),
        .minted(.signerCountUnsupported, .twoSigners),
        .container(.signerIdentifierUnsupported, "SignerInfo version 3") { $0.signerInfo[0].content = [3] },
        .container(.signerIdentifierUnsupported, "a subject key identifier") {
            $0.signerInfo[1] = DERTree(tag: 0x80, content: [1, 2, 3, 4])
        },
        .minted(.signerCertificateMissing, .signerNotEmbedded),
        .container(.signerCertificateMissing, "another serial number") { $0.signerInfo[1, 1].content[5] ^= 1 },
        .container(.signerCertificateMissing, "another issuer") {
            $0.signerInfo[1, 0, 0, 0, 1].content[0] ^= 1
        },
        CounterExample(.signerCertificateAmbiguous, "two leaves with one name and serial number") {
            let authority = try MintedWorld.authority()
            let twin = try authority.replacingLeaf { $0.notAfter = $0.notAfter.addingTimeInterval(-86_400) }
            var signing = SigningOptions()
            signing.embeddedCertificates = [
                authority.leaf.certificate, twin.leaf.certificate, authority.intermediate.certificate,
            ]
            return try MintedWorld.mint(signing: signing)
        },
        .container(.digestAlgorithmUnsupported, "MD5 as the signer's digest") {
            $0.signerInfo[2, 0].content = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x05]
        },
        .container(.digestAlgorithmUnsupported, "MD5 as the container's digest") {
            $0.signedPayload[1, 0, 0].content = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02, 0x05]
        },
        .container(.digestAlgorithmUnsupported, "SHA-256 with parameters") {
            $0.signerInfo[2, 1] = DERTree(tag: 0x02, content: [1])
        },
        .minted(.digestAlgorithmMismatch, .digestMismatch),
        .container(.digestAlgorithmMismatch, "no digest announced") { $0.signedPayload[1].children = [] },
        .container(.signatureAlgorithmUnsupported, "RSASSA-PSS") { $0.signerInfo[3, 0].content[8] = 0x0A },
        CounterExample(.signatureAlgorithmUnsupported, "ECDSA") {
            var signing = SigningOptions()
            signing.signerKey = .makeP256()
            signing.signatureAlgorithm = .digestWithECDSA
            return try MintedWorld.mint(signing: signing)
        },
        .minted(.signatureAlgorithmMismatch, .signatureAlgorithmMismatch),
        .minted(.signedAttributesMalformed, .signedAttributesWithoutDigest),
        .minted(.messageDigestMismatch, .wrongMessageDigest),
        .container(.contentTypeMismatch, "signed attributes for another content type", signing: withAttributes) {
            tree in
            let number = tree.signerInfo[3].children.firstIndex { $0[0].content.last == 3 } ?? 0
            tree.signerInfo[3, number, 1, 0].content[8] = 2
        },
        .container(.signedAttributesMalformed, "the message digest twice", signing: withAttributes) { tree in
            let digest = tree.signerInfo[3].children.first { $0[0].content.last == 4 } ?? tree
            tree.signerInfo[3].children.append(digest)
        },
        .container(.signedAttributesMalformed, "two message digests in one attribute", signing: withAttributes) {
            tree in
            let number = tree.signerInfo[3].children.firstIndex { $0[0].content.last == 4 } ?? 0
            tree.signerInfo[3, number, 1].children.append(tree.signerInfo[3, number, 1, 0])
        },
        .minted(.signatureInvalid, .flippedPayloadByte),
        .minted(.signatureInvalid, .flippedSignatureByte),
        .minted(.signatureInvalid, .foreignSignature),
        .container(.signatureInvalid, "signed attributes taken away", signing: withAttributes) {
            $0.signerInfo.children.remove(at: 3)
        },
        .container(.signatureInvalid, "a signature one byte short") { $0.signerInfo[4].content.removeLast() },
        .container(.signatureInvalid, "an empty signature") { $0.signerInfo[4].content = [] },
        .container(.signatureInvalid, "a signing time changed", signing: withAttributes) { tree in
            let number = tree.signerInfo[3].children.firstIndex { ![3, 4].contains($0[0].content.last) }
            if let number {
                tree.signerInfo[3, number, 1, 0].content[0] ^= 1
            } else {
                tree.signerInfo[3].children.append(
                    DERTree(
                        tag: 0x30,
                        children: [DERTree(tag: 0x06, content: [0x2A, 3]), DERTree(tag: 0x31, children: [])]))
            }
        },
    ]

    private static var withAttributes: SigningOptions {
        var signing = SigningOptions()
        signing.signedAttributes = true
        return signing
    }
}
