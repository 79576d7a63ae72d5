import EvidenceMint
import Foundation
import Testing

@Suite("OpenSSL", .enabled(if: OpenSSL.isInstalled, OpenSSL.absence))
struct OpenSSLTests {
    @Test("accepts a receipt signed with any digest, algorithm name and wrapping", arguments: ReceiptDigest.allCases)
    func receipts(digest: ReceiptDigest) throws {
        for spelling in [SigningOptions.SignatureAlgorithmName.rsaEncryption, .digestWithRSA] {
            for signedAttributes in [false, true] {
                for encoding in [SigningOptions.Encoding.der, .xcodeBER] {
                    var options = SigningOptions()
                    options.digest = digest
                    options.signatureAlgorithm = spelling
                    options.signedAttributes = signedAttributes
                    options.encoding = encoding
                    options.pieceLength = 50
                    let receipt = try World.encoder().encode(World.receipt, signing: options)
                    let judged = try Judgement(receipt)
                    #expect(judged.verdict.isGood, "\(options) \(judged.verdict.text)")
                    #expect(judged.content == World.receipt.payload())
                }
            }
        }
    }

    @Test("sees the inner OCTET STRING as the content of a receipt that is wrapped twice")
    func wrappedTwice() throws {
        var options = SigningOptions()
        options.wrapsPayloadTwice = true
        let judged = try Judgement(try World.encoder().encode(World.receipt, signing: options))
        #expect(judged.verdict.isGood)
        #expect(try ASN1Element(judged.content).content == World.receipt.payload())
    }

    @Test("accepts Xcode's kind only with its own certificate")
    func xcode() throws {
        let signer = try World.xcodeSigner()
        let template = AppReceiptTemplate.xcode(
            bundleID: World.bundleID, creationDate: World.creationDate, purchases: [World.year]
        )
        let receipt = try signer.encode(template)
        // Xcode's certificate is only for signing code.
        #expect(try Judgement(receipt, anchor: signer.identity, purpose: "any").verdict.isGood)
        #expect(try !Judgement(receipt).verdict.isGood)
    }

    @Test("accepts a receipt signed with an elliptic key")
    func ellipticSigner() throws {
        let authority = try World.authority()
        let key = SigningKey.makeP256()
        let leaf = try CertificateTemplate.receiptLeaf.signed(
            by: authority.intermediate.privateKey, publicKeyInfo: key.publicKeyInfo
        )
        var options = SigningOptions()
        options.signerKey = key
        options.signerSerialNumber = [3]
        options.signatureAlgorithm = .digestWithECDSA
        options.embeddedCertificates = [leaf, authority.intermediate.certificate]
        let judged = try Judgement(try World.encoder().encode(World.receipt, signing: options))
        #expect(judged.verdict.isGood, "\(judged.verdict.text)")
    }

    @Test("refuses a receipt with a fault for exactly that fault", arguments: ReceiptFault.allCases)
    func faults(fault: ReceiptFault) throws {
        let receipt = try World.encoder().encode(World.receipt, fault: fault)
        // A developer's certificate is for signing code; the check for mail must refuse it.
        let judged = try Judgement(receipt, purpose: fault == .developerCertificate ? "any" : "smimesign")
        if let words = Self.complaint(fault) {
            #expect(!judged.verdict.isGood)
            #expect(judged.verdict.text.contains(words), "\(judged.verdict.text)")
        } else {
            #expect(judged.verdict.isGood, "\(judged.verdict.text)")
        }
    }

    /// The error that OpenSSL reports; nil if a general verifier does not check for the fault.
    private static func complaint(_ fault: ReceiptFault) -> String? {
        switch fault {
        case .wrongRoot: "certificate in certificate chain"
        case .expiredLeaf, .expiredIntermediate: "certificate has expired"
        case .leafNotYetValid: "certificate is not yet valid"
        case .notAnAuthority, .intermediateKeyUsage: "invalid CA certificate"
        case .pathLengthExceeded: "path length constraint exceeded"
        case .leafKeyUsage: "unsuitable certificate purpose"
        case .unknownCriticalExtension: "unhandled critical extension"
        case .wrongIssuerName, .crossSigned: "unable to get local issuer certificate"
        case .flippedPayloadByte, .flippedSignatureByte, .foreignSignature: "verification failure"
        case .flippedLeafCertificateByte: "certificate signature failure"
        case .truncated: "not enough data"
        case .digestMismatch: "no matching digest"
        case .noSigner: "no signers"
        case .signerNotEmbedded, .noCertificates: "signer certificate not found"
        case .signedAttributesWithoutDigest: "attribute error"
        case .wrongMessageDigest: "verification failure"
        case .missingLeafMarker, .missingIntermediateMarker, .developerCertificate, .weakLeafKey,
            .trailingBytes, .nonMinimalLength, .signatureAlgorithmMismatch, .twoSigners, .duplicateCertificate,
            .wrongContentType, .missingCreationDate, .missingBundleID, .missingReceiptType, .duplicateAttribute,
            .malformedDate, .noTransactionID, .payloadNotASet:
            nil
        }
    }
}

/// OpenSSL's verdict on a receipt at its creation date, and the content that it found.
struct Judgement {
    let verdict: OpenSSL.Verdict
    let content: [UInt8]

    /// - Parameter purpose: the purpose that the leaf must have, as OpenSSL names it; CMS uses the one for signing
    ///   mail.
    init(_ receipt: [UInt8], anchor: SigningIdentity? = nil, purpose: String = "smimesign") throws {
        let scratch = try ScratchFolder()
        let anchor = try anchor ?? World.authority().root
        verdict = try OpenSSL.run([
            "cms", "-verify", "-binary", "-inform", "DER",
            "-in", try scratch.file("receipt.der", receipt),
            "-CAfile", try scratch.file("anchor.pem", Array(anchor.pem.utf8)),
            "-no-CApath", "-no-CAstore", "-purpose", purpose,
            "-attime", String(Int(World.creationDate.timeIntervalSince1970)),
            "-out", scratch.url.appendingPathComponent("content").path,
        ])
        content = (try? scratch.bytes("content")) ?? []
    }
}
