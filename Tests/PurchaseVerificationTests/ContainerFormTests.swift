import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Different forms of a receipt that are all genuine.
@Suite("Forms of a genuine receipt")
struct ContainerFormTests {
    private let policies: [any PurchasePolicy] = [
        EnvironmentPolicy(accepting: [.sandbox]), BundleIDPolicy("com.example.app"),
    ]

    private func verify(_ evidence: [UInt8]) throws -> AppReceipt {
        let anchor = try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)
        return try PurchaseVerifier(anchors: [anchor]).verifyAppReceipt(evidence, policies: policies)
    }

    @Test("Every digest of the SHA family, with both names of the algorithm", arguments: ReceiptDigest.allCases)
    func digest(_ digest: ReceiptDigest) throws {
        for spelling in [SigningOptions.SignatureAlgorithmName.rsaEncryption, .digestWithRSA] {
            for signedAttributes in [false, true] {
                var signing = SigningOptions()
                signing.digest = digest
                signing.signatureAlgorithm = spelling
                signing.signedAttributes = signedAttributes
                #expect(try verify(try MintedWorld.mint(signing: signing)).inAppPurchases.count == 3)
            }
        }
    }

    @Test("BER with indefinite lengths, and the payload in one or many pieces", arguments: [nil, 1, 100, 1000])
    func indefiniteLengths(_ pieceLength: Int?) throws {
        for wrapsPayloadTwice in [false, true] {
            for signedAttributes in [false, true] {
                var signing = SigningOptions.xcode
                signing.pieceLength = pieceLength
                signing.wrapsPayloadTwice = wrapsPayloadTwice
                signing.signedAttributes = signedAttributes
                let receipt = try verify(try MintedWorld.mint(signing: signing))
                #expect(receipt.inAppPurchases.count == 3)
                #expect(receipt.attributes.count > 15)
            }
        }
    }

    @Test("A payload that is wrapped twice")
    func wrappedTwice() throws {
        var signing = SigningOptions()
        signing.wrapsPayloadTwice = true
        #expect(try verify(try MintedWorld.mint(signing: signing)).bundleID == "com.example.app")
    }

    @Test("The certificates in any order, with and without the root")
    func certificateOrder() throws {
        let orders: [[SigningOptions.Certificate]] = [
            [.leaf, .intermediate, .root], [.root, .intermediate, .leaf], [.intermediate, .leaf],
            [.leaf, .intermediate], [.intermediate, .root, .leaf], [.root, .leaf, .intermediate],
        ]
        for order in orders {
            var signing = SigningOptions()
            signing.certificates = order
            #expect(try verify(try MintedWorld.mint(signing: signing)).inAppPurchases.count == 3)
        }
    }

    @Test("An unrelated certificate beside the path")
    func strangerEmbedded() throws {
        let authority = try MintedWorld.authority()
        var signing = SigningOptions()
        signing.embeddedCertificates = [
            try MintedWorld.otherAuthority().intermediate.certificate, authority.leaf.certificate,
            authority.intermediate.certificate, try MintedWorld.otherAuthority().root.certificate,
        ]
        #expect(try verify(try MintedWorld.mint(signing: signing)).inAppPurchases.count == 3)
    }

    @Test(
        "An unreadable embedded certificate that no path needs, with a fresh and with a remembered path")
    func unreadableEmbedded() throws {
        let anchor = try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)
        let seenBefore = PurchaseVerifier(anchors: [anchor])
        _ = try seenBefore.verifyAppReceipt(try MintedWorld.mint(), policies: policies)
        // Well formed up to its issuer; the search for the signer reads no further.
        var tree = DERTree(try MintedWorld.mint())
        var stranger = tree.signedPayload[3, 2]
        stranger[0, 4] = DERTree(tag: 0x05, content: [])
        tree.signedPayload[3].children.append(stranger)
        for verifier in [seenBefore, PurchaseVerifier(anchors: [anchor])] {
            #expect(try verifier.verifyAppReceipt(tree.bytes, policies: policies).inAppPurchases.count == 3)
        }
    }

    @Test("Authorities that sign with any accepted algorithm")
    func certificateAlgorithms() throws {
        for algorithm in [
            CertificateTemplate.SignatureAlgorithm.sha1WithRSA, .sha256WithRSA, .sha384WithRSA, .sha512WithRSA,
        ] {
            let authority = try MintedWorld.authority()
                .replacingIntermediate { $0.signatureAlgorithm = algorithm }
                .replacingLeaf { $0.signatureAlgorithm = algorithm }
            #expect(try verify(try MintedWorld.mint(authority: authority)).inAppPurchases.count == 3)
        }
    }

    @Test("Base64 as clients write it")
    func base64() throws {
        let receipt = try MintedWorld.mint()
        let plain = Data(receipt).base64EncodedString()
        let expected = try verify(receipt)
        let forms: [(String, String)] = [
            ("plain", plain), ("line end", plain + "\n"), ("white space around", "  \(plain)\r\n\r\n"),
            ("no padding", plain.replacingOccurrences(of: "=", with: "")),
            (
                "lines of 64",
                Data(receipt).base64EncodedString(options: [.lineLength64Characters, .endLineWithCarriageReturn])
            ),
            (
                "lines of 76",
                Data(receipt).base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
            ),
            ("URL alphabet", plain.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")),
            (
                "URL alphabet, no padding",
                plain.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                    .replacingOccurrences(of: "=", with: "")
            ),
            ("byte order mark", "\u{FEFF}" + plain),
            (
                "lines with indentation",
                Data(receipt).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
                    .replacingOccurrences(of: "\n", with: "\n    ")
            ),
            (
                "lines folded with spaces",
                Data(receipt).base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed])
                    .replacingOccurrences(of: "\n", with: " ")
            ),
            ("form decoded", plain.replacingOccurrences(of: "+", with: " ")),
        ]
        for (name, text) in forms {
            #expect(try verify(Array(text.utf8)) == expected, "\(name)")
        }
    }

    @Test("A certificate is valid at both ends of its period")
    func validityEnds() throws {
        for offset in [0.0, 0.999] {
            let authority = try MintedWorld.authority().replacingLeaf {
                $0.notBefore = MintedWorld.moment
                $0.notAfter = MintedWorld.moment
            }
            var template = MintedWorld.receipt()
            template.creationDate = MintedWorld.moment.addingTimeInterval(offset)
            #expect(try verify(try MintedWorld.mint(template, authority: authority)).inAppPurchases.count == 3)
        }
    }

    @Test("The validity of a remembered path is checked at the date of each receipt")
    func rememberedPath() throws {
        let authority = try MintedWorld.authority().replacingLeaf {
            $0.notAfter = MintedWorld.moment.addingTimeInterval(86_400)
        }
        let verifier = PurchaseVerifier(anchors: [try TrustAnchor(certificate: authority.root.certificate)])
        func receipt(daysLater days: Double) throws -> [UInt8] {
            var template = MintedWorld.receipt()
            template.creationDate = MintedWorld.moment.addingTimeInterval(days * 86_400)
            return try MintedWorld.mint(template, authority: authority)
        }
        _ = try verifier.verifyAppReceipt(try receipt(daysLater: 0), policies: [])
        #expect(verifier.rememberedPaths == 1)
        _ = try verifier.verifyAppReceipt(try receipt(daysLater: 1), policies: [])
        #expect(verifier.rememberedPaths == 1)
        #expect(throws: VerificationError.self) {
            try verifier.verifyAppReceipt(try receipt(daysLater: 2), policies: [])
        }
        _ = try verifier.verifyAppReceipt(try receipt(daysLater: 0.5), policies: [])
        #expect(verifier.rememberedPaths == 1)
    }

    @Test("Failed paths are not remembered, and the memory is bounded")
    func memoryIsBounded() throws {
        let authority = try MintedWorld.authority()
        let verifier = PurchaseVerifier(anchors: [try TrustAnchor(certificate: authority.root.certificate)])
        for fault in [ReceiptFault.missingLeafMarker, .expiredLeaf, .wrongRoot, .flippedLeafCertificateByte] {
            #expect(throws: VerificationError.self) {
                try verifier.verifyAppReceipt(try MintedWorld.mint(fault: fault), policies: [])
            }
        }
        #expect(verifier.rememberedPaths == 0)
        for number in 0..<80 {
            let other = try authority.replacingLeaf { $0.serialNumber = [0x40, UInt8(number)] }
            _ = try verifier.verifyAppReceipt(try MintedWorld.mint(authority: other), policies: [])
        }
        #expect(verifier.rememberedPaths == 64)
    }

    @Test("A receipt signed like Xcode's verifies with its own certificate as anchor, and only as Xcode's")
    func xcode() throws {
        let signer = try MintedWorld.xcodeSigner()
        let template = AppReceiptTemplate.xcode(
            bundleID: "com.example.app", creationDate: MintedWorld.moment, purchases: MintedWorld.purchases())
        let evidence = try signer.encode(template)
        let verifier = PurchaseVerifier(anchors: [try TrustAnchor(certificate: signer.identity.certificate)])
        let receipt = try verifier.verifyAppReceipt(evidence, policies: [EnvironmentPolicy(accepting: [.xcode])])
        #expect(receipt.environment == .xcode)
        #expect(receipt.inAppPurchases.count == 3)
        #expect(throws: VerificationError.self) { try PurchaseVerifier().verifyAppReceipt(evidence, policies: []) }
    }

    @Test("Evidence that was encoded in base64 once too often is refused with a description of the mistake")
    func encodedTwice() throws {
        let receipt = Data(try MintedWorld.mint()).base64EncodedData()
        let jws = Data(try MintedWorld.mint(MintedWorld.transaction()))
        for (evidence, found) in [
            (receipt, "base64 that was encoded in base64 again"), (jws, "a JWS that was encoded in base64"),
        ] {
            let error = #expect(throws: VerificationError.self) { try verify([UInt8](evidence.base64EncodedData())) }
            #expect(error?.code == .evidenceUnrecognized && error?.found == found)
        }
    }
}
