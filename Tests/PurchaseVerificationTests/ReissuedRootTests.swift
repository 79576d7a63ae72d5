import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Chains below a root that has the name of a trusted one, and another key or period. All authorities of the mint have
/// the same names.
@Suite("29.4 A root that was issued again under its old name")
struct ReissuedRootTests {
    private static let kinds = ["receipt", "signed data"]

    /// Evidence of a kind whose chain has been changed, and its root.
    private struct Chain {
        let evidence: [UInt8]
        let root: [UInt8]
    }

    private static func receipt(
        _ authority: CertificateAuthority, embedding certificates: [SigningIdentity]? = nil
    ) throws -> Chain {
        var signing = SigningOptions()
        signing.embeddedCertificates =
            (certificates ?? [authority.leaf, authority.intermediate, authority.root]).map(\.certificate)
        return Chain(
            evidence: try MintedWorld.mint(signing: signing, authority: authority), root: authority.root.certificate)
    }

    private static func signedData(_ authority: SignedPayloadAuthority) throws -> Chain {
        let text = try SignedPayloadEncoder(authority: authority).encode(MintedWorld.transaction())
        return Chain(evidence: Array(text.utf8), root: authority.root.certificate)
    }

    private static func verdict(_ evidence: [UInt8], trusting anchors: [[UInt8]]) throws -> VerificationError? {
        let verifier = PurchaseVerifier(
            anchors: TrustAnchor.apple + (try anchors.map { try TrustAnchor(certificate: $0) }))
        do throws(VerificationError) {
            _ = try verifier.verify(evidence, policies: [])
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "A complete chain below a new key of a trusted name is of an unknown issuer, and genuine once the key is trusted",
        arguments: kinds)
    func newKey(_ kind: String) throws {
        let chain =
            try kind == "receipt"
            ? Self.receipt(try MintedWorld.otherAuthority()) : Self.signedData(try SignedPayloadAuthority())
        let old = try MintedWorld.trustedCertificates()
        let error = try #require(try Self.verdict(chain.evidence, trusting: old))
        #expect(error.code == .issuerUnknown)
        #expect(error.code.conclusion == .notAccepted)
        let name = try TrustAnchor(certificate: chain.root).subject
        #expect(error.found?.contains(name) == true, "\(error)")
        #expect(try Self.verdict(chain.evidence, trusting: old + [chain.root]) == nil)
    }

    @Test("The same key with another period is of an unknown issuer, too, when the trusted period is over")
    func newPeriod() throws {
        let authority = try MintedWorld.authority()
        let ended = try authority.replacingRoot { $0.notAfter = MintedWorld.moment.addingTimeInterval(-1) }
        let chain = try Self.receipt(authority)
        #expect(try Self.verdict(chain.evidence, trusting: [ended.root.certificate])?.code == .issuerUnknown)
        let alone = try Self.receipt(authority, embedding: [authority.leaf, authority.intermediate])
        #expect(try Self.verdict(alone.evidence, trusting: [ended.root.certificate])?.code == .certificateExpired)
        // The embedded root has ended, too: nobody could have signed with it.
        let both = try Self.receipt(ended)
        #expect(try Self.verdict(both.evidence, trusting: [ended.root.certificate])?.code == .certificateExpired)
    }

    @Test("A chain that is broken below the root stays forged, with a new root as with the old one")
    func broken() throws {
        let (authority, other) = (try MintedWorld.authority(), try MintedWorld.otherAuthority())
        let third = try CertificateAuthority()
        let trusted = [authority.root.certificate]
        for (words, certificates) in [
            ("the root did not sign the intermediate", [other.leaf, other.intermediate, third.root]),
            ("the intermediate did not sign the leaf", [other.leaf, third.intermediate, third.root]),
            ("the trusted root is embedded", [other.leaf, other.intermediate, authority.root]),
            ("no root is embedded", [other.leaf, other.intermediate]),
        ] {
            let chain = try Self.receipt(other, embedding: certificates)
            #expect(
                try Self.verdict(chain.evidence, trusting: trusted)?.code == .certificateSignatureInvalid, "\(words)")
        }
        let payloads = try SignedPayloadAuthority()
        for root in [try MintedWorld.store().signedPayload.root, try SignedPayloadAuthority().root] {
            let chain = try Self.signedData(
                SignedPayloadAuthority(root: root, intermediate: payloads.intermediate, leaf: payloads.leaf))
            #expect(
                try Self.verdict(chain.evidence, trusting: MintedWorld.trustedCertificates())?.code
                    == .certificateSignatureInvalid)
        }
    }

    @Test("A root that did not sign itself, is no authority, or cannot be read changes no verdict")
    func unfitRoots() throws {
        let (authority, other) = (try MintedWorld.authority(), try MintedWorld.otherAuthority())
        let trusted = [authority.root.certificate]
        var tampered = other.root.certificate
        tampered[tampered.count - 1] ^= 1
        let noAuthority = try other.replacingRoot {
            $0.isAuthority = false; $0.pathLength = nil
        }.root.certificate
        let ended = try other.replacingRoot { $0.notAfter = MintedWorld.moment.addingTimeInterval(-1) }.root.certificate
        for (words, root) in [("tampered", tampered), ("no authority", noAuthority), ("ended", ended)] {
            var signing = SigningOptions()
            signing.embeddedCertificates = [other.leaf.certificate, other.intermediate.certificate, root]
            let code = try Self.verdict(
                try MintedWorld.mint(signing: signing, authority: other), trusting: trusted)?.code
            #expect(code == .certificateSignatureInvalid, "\(words)")
        }
        // The third certificate of signed data may be anything.
        let payloads = try SignedPayloadAuthority()
        let header = try HandmadeJWS.header(
            certificates: [payloads.leaf.certificate, payloads.intermediate.certificate, [0x30, 0]])
        let jws = try HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: header).bytes()
        #expect(
            try Self.verdict(jws, trusting: MintedWorld.trustedCertificates())?.code == .certificateSignatureInvalid)
    }

    @Test("Looking at roots shares the budget of the search: seven large keys of one name end it")
    func budget() throws {
        let (authority, other) = (try MintedWorld.authority(), try MintedWorld.otherAuthority())
        // The intermediate states a signature with P-384, so that each root of its issuer's name has to be tried.
        var template = CertificateTemplate(
            issuer: authority.root.subject, subject: other.intermediate.subject, serialNumber: [0x31],
            notBefore: CertificateTemplate.earliestDate, notAfter: CertificateTemplate.latestDate)
        template.isAuthority = true
        template.keyUsage = [.certificateSigning]
        template.signatureAlgorithm = .ecdsaWithSHA384
        let intermediate = try template.signed(
            by: .makeP384(), publicKeyInfo: other.intermediate.privateKey.publicKeyInfo)
        template.subject = authority.root.subject
        for count in 1...7 {
            var signing = SigningOptions()
            signing.embeddedCertificates = [other.leaf.certificate, intermediate]
            for number in 0..<count {
                let key = SigningKey.makeP384()
                template.serialNumber = [UInt8(0x41 + number)]
                signing.embeddedCertificates?.append(try template.signed(by: key, publicKeyInfo: key.publicKeyInfo))
            }
            let code = try Self.verdict(
                try MintedWorld.mint(signing: signing, authority: other), trusting: [authority.root.certificate])?.code
            // One check weighs 16 of 80, and the leaf's 1.
            #expect(code == (count < 5 ? .certificateSignatureInvalid : .pathBudgetExceeded), "\(count)")
        }
    }
}
