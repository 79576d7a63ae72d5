import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// Evidence under an authority that had ended when it was signed, as Apple embedded one in February 2023.
@Suite("C.5 An intermediate that had just ended when it signed")
struct RecentEndTests {
    private static let kinds = ["receipt", "signed data", "transaction receipt"]
    private static let hour: TimeInterval = 3600

    private static func ended(_ hours: Double) -> Date { MintedWorld.moment.addingTimeInterval(-hours * hour) }

    private static func time(_ date: Date) -> AppStoreTime { AppStoreTime(date) }

    /// Evidence whose intermediate, leaf and root end at these times.
    private struct Ends {
        var intermediate: Date?
        var leaf: Date?
        var root: Date?
    }

    /// The error of evidence of a kind.
    private static func error(_ kind: String, _ ends: Ends) throws -> VerificationError {
        func change(_ end: Date?) -> (inout CertificateTemplate) -> Void {
            { if let end { $0.notAfter = end } }
        }
        let (evidence, anchors): ([UInt8], [[UInt8]])
        switch kind {
        case "receipt":
            let authority = try MintedWorld.authority().replacingRoot(change(ends.root))
                .replacingIntermediate(change(ends.intermediate)).replacingLeaf(change(ends.leaf))
            evidence = try MintedWorld.mint(authority: authority)
            anchors = [authority.root.certificate]
        case "signed data":
            let authority = try MintedWorld.store().signedPayload.replacingRoot(change(ends.root))
                .replacingIntermediate(change(ends.intermediate)).replacingLeaf(change(ends.leaf))
            let text = try SignedPayloadEncoder(authority: authority).encode(MintedWorld.transaction())
            (evidence, anchors) = (Array(text.utf8), [authority.root.certificate])
        default:
            var receipt = try HandmadeTransactionReceipt(.four)
            receipt.certificate = try HandmadeTransactionReceipt.leaf(.four, change(ends.leaf))
            evidence = try receipt.bytes()
            let issuer = try MintedWorld.store().receipts.replacingIntermediate(change(ends.intermediate)).intermediate
            anchors = [issuer.certificate]
        }
        let verifier = PurchaseVerifier(
            anchors: TrustAnchor.apple + (try anchors.map { try TrustAnchor(certificate: $0) }))
        do throws(VerificationError) {
            _ = try verifier.verify(evidence, policies: [])
        } catch {
            return error
        }
        Issue.record("accepted")
        return VerificationError(.evidenceEmpty)
    }

    @Test(
        "C.5 It is to be sent again for 48 hours after the end of that certificate, and forged afterwards",
        arguments: kinds)
    func window(_ kind: String) throws {
        let end = Self.ended(1)
        let error = try Self.error(kind, Ends(intermediate: end))
        // Without a time, it is judged as ever.
        #expect(error.code == .certificateExpired && error.code.conclusion == .forged)
        for hours in [1, 47.9, 48] {
            let now = error.at(Self.time(end.addingTimeInterval(hours * Self.hour)))
            #expect(now.code == .certificateJustExpired && now.code.conclusion == .unread, "\(hours)")
            // Which certificate, and when it ended.
            #expect(now.expected == error.expected && now.expected?.contains(" or earlier for ") == true)
        }
        #expect(error.at(Self.time(end.addingTimeInterval(48 * Self.hour + 1))).code == .certificateExpired)
        let long = try Self.error(kind, Ends(intermediate: Self.ended(48.1)))
        #expect(long.at(Self.time(MintedWorld.moment)).code == .certificateExpired, "it had ended long before")
    }

    @Test(
        "C.5 Only the end of an intermediate is so: not that of a root, nor that of a leaf alone",
        arguments: kinds.dropLast())
    func others(_ kind: String) throws {
        let now = Self.time(MintedWorld.moment)
        let (leaf, root) = (
            try Self.error(kind, Ends(leaf: Self.ended(1))),
            try Self.error(kind, Ends(intermediate: Self.ended(1), root: Self.ended(1)))
        )
        #expect(leaf.at(now).code == .certificateExpired && root.at(now).code == .certificateExpired)
        let both = try Self.error(kind, Ends(intermediate: Self.ended(1), leaf: Self.ended(1)))
        #expect(both.at(now).code == .certificateJustExpired)
    }

    @Test("C.5 Nobody without a trusted root gets it, and a valid intermediate beside the ended one is used")
    func chains() throws {
        let (authority, other) = (try MintedWorld.authority(), try MintedWorld.otherAuthority())
        let ended = try authority.replacingIntermediate { $0.notAfter = Self.ended(1) }
        let foreign = try other.replacingIntermediate { $0.notAfter = Self.ended(1) }
        let verifier = PurchaseVerifier(anchors: [try TrustAnchor(certificate: authority.root.certificate)])
        let now = Self.time(MintedWorld.moment)
        let forgery = try MintedWorld.mint(authority: foreign)
        do throws(VerificationError) {
            _ = try verifier.verify(forgery, policies: [])
            Issue.record("accepted")
        } catch {
            #expect(error.at(now).code != .certificateJustExpired, "\(error)")
        }
        var signing = SigningOptions()
        signing.embeddedCertificates = [ended.leaf, ended.intermediate, authority.intermediate].map(\.certificate)
        _ = try verifier.verify(try MintedWorld.mint(signing: signing, authority: ended), policies: [])
    }
}
