import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("Trust in signed data")
struct SignedPayloadTrustTests {
    private func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) })
    }

    private func code(
        _ verifier: PurchaseVerifier, _ bytes: [UInt8], _ policies: [any PurchasePolicy]
    ) -> ReasonCode? {
        do throws(VerificationError) {
            _ = try verifier.verify(bytes, policies: policies)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Xcode's signed data is accepted only with its certificate named and its environment accepted")
    func xcode() throws {
        let signer = try MintedWorld.xcodeSigner()
        let anchors = [try TrustAnchor(certificate: signer.payloadIdentity.certificate)]
        let trusting = PurchaseVerifier(anchors: TrustAnchor.apple + anchors)
        let xcode: [any PurchasePolicy] = [EnvironmentPolicy(accepting: [.xcode])]
        let store: [any PurchasePolicy] = [EnvironmentPolicy(accepting: [.production, .sandbox])]
        let evidence = [
            try signer.encode(MintedWorld.transaction().asXcodeWritesIt),
            try signer.encode(MintedWorld.renewalInfo().asXcodeWritesIt),
            try signer.encode(MintedWorld.appTransaction().asXcodeWritesIt),
        ].map { Array($0.utf8) }
        for bytes in evidence {
            #expect(code(trusting, bytes, xcode) == nil)
            #expect(code(trusting, bytes, store) == .environmentNotAccepted)
            #expect(code(PurchaseVerifier(), bytes, xcode) == .issuerUnknown)
            #expect(trusting.inspect(bytes, policies: xcode).firstFailure == nil)
        }
    }

    @Test("The third certificate is ignored")
    func thirdCertificate() throws {
        let chain = try HandmadeJWS.chain()
        let otherRoot = try MintedWorld.store().signedPayload.replacingRoot { $0.serialNumber = [0x77] }.root
            .certificate
        for third in [otherRoot, chain[0], [1, 2, 3], try MintedWorld.otherAuthority().root.certificate] {
            let verifier = try verifier()
            let header = try HandmadeJWS.header(certificates: [chain[0], chain[1], third])
            let bytes = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: header).bytes()
            #expect(code(verifier, bytes, []) == nil)
            #expect(verifier.rememberedHeaders == 0)
        }
    }

    @Test("A certificate may have expired since")
    func expiredSince() throws {
        let authority = try MintedWorld.store().signedPayload.replacingLeaf {
            $0.notAfter = MintedWorld.moment
            $0.notBefore = MintedWorld.moment
        }
        let bytes = Array(try SignedPayloadEncoder(authority: authority).encode(MintedWorld.transaction()).utf8)
        #expect(code(try verifier(), bytes, []) == nil)
    }

    @Test("Other encodings of a genuine header verify, and none is remembered")
    func otherSpellings() throws {
        let verifier = try verifier()
        let header = try HandmadeJWS.header()
        var spellings: [String] = (0..<100).map { number in header.dropLast() + ",\"kid\":\"\(number)\"}" }
        spellings.append("{ " + header.dropFirst())
        spellings.append(header + "\n")
        spellings.append(header.replacingOccurrences(of: "/", with: "\\/"))
        spellings.append(header.replacingOccurrences(of: "ES256", with: "\\u0045S256"))
        for spelling in spellings {
            let bytes = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: spelling).bytes()
            #expect(code(verifier, bytes, []) == nil)
        }
        #expect(verifier.rememberedHeaders == 0)
        #expect(verifier.rememberedPaths == 1)
        _ = try verifier.verify(try MintedWorld.mint(MintedWorld.transaction()), policies: [])
        #expect(verifier.rememberedHeaders == 1)
        #expect(verifier.rememberedPaths == 2)
    }

    @Test("All kinds of evidence share one cache, and inspecting adds nothing to it")
    func oneMemory() throws {
        let verifier = try verifier()
        let evidence =
            [try MintedWorld.mint(), try MintedWorld.mint(MintedWorld.notification())]
            + (try MintedVersion.allCases.map { try MintedWorld.mint(MintedWorld.transactionReceipt(), $0) })
        for bytes in evidence {
            #expect(verifier.inspect(bytes, policies: []).firstFailure == nil)
        }
        #expect(verifier.rememberedPaths == 0)
        for (number, bytes) in evidence.enumerated() {
            _ = try verifier.verify(bytes, policies: [])
            #expect(verifier.rememberedPaths == number + 1)
        }
        for bytes in evidence { _ = verifier.inspect(bytes, policies: []) }
        #expect(verifier.rememberedPaths == evidence.count)
    }

    @Test("The number of remembered headers reaches its limit and stays there")
    func boundedMemory() throws {
        let verifier = try verifier()
        let first = try MintedWorld.mint(MintedWorld.transaction())
        _ = try verifier.verify(first, policies: [])
        for number in 1...80 {
            let authority = try MintedWorld.store().signedPayload.replacingLeaf {
                $0.serialNumber = [0x50, UInt8(number)]
            }
            let text = try SignedPayloadEncoder(authority: authority).encode(MintedWorld.transaction())
            _ = try verifier.verify(Array(text.utf8), policies: [])
            #expect(verifier.rememberedHeaders == min(number + 1, 64))
        }
        _ = try verifier.verify(first, policies: [])
        #expect(verifier.rememberedHeaders == 64)
    }

    @Test("Refused evidence is not remembered")
    func refused() throws {
        let verifier = try verifier()
        for fault in [SignedPayloadFault.wrongRoot, .missingLeafMarker, .expiredLeaf, .algES384, .x5cOfTwo] {
            #expect(code(verifier, try MintedWorld.mint(MintedWorld.transaction(), fault: fault), []) != nil)
        }
        #expect(verifier.rememberedHeaders == 0)
        #expect(verifier.rememberedPaths == 0)
    }

    @Test("A trusted issuer of transaction receipts has no effect on evidence with its own chain")
    func namedIssuers() throws {
        #expect(code(try verifier(), try MintedWorld.mint(), []) == nil)
        #expect(code(try verifier(), try MintedWorld.mint(MintedWorld.transaction()), []) == nil)
        let store = try MintedWorld.store()
        let issuers = [store.receipts.intermediate, store.signedPayload.intermediate]
        let alone = PurchaseVerifier(anchors: try issuers.map { try TrustAnchor(certificate: $0.certificate) })
        #expect(code(alone, try MintedWorld.mint(), []) == .issuerUnknown)
        #expect(code(alone, try MintedWorld.mint(MintedWorld.transaction()), []) == .issuerUnknown)
        #expect(code(alone, try MintedWorld.mint(MintedWorld.transactionReceipt(), .four), []) == nil)
    }
}
