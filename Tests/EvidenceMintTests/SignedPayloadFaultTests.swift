import EvidenceMint
import Foundation
import Testing

@Suite("A fault of signed data")
struct SignedPayloadFaultTests {
    @Test(
        "changes the text of the kinds that it applies to, and is refused for others",
        arguments: SignedPayloadFault.allCases)
    func changesText(fault: SignedPayloadFault) throws {
        let encoder = SignedPayloadEncoder(authority: try World.store())
        var count = 0
        for template in World.signedPayload {
            guard fault.applies(to: template) else {
                #expect(throws: MintError.inapplicableFault(fault.rawValue)) {
                    try encoder.encode(template, fault: fault)
                }
                continue
            }
            count += 1
            // Signatures differ each time, so everything else is compared, and the format of the signature.
            let good = try encoder.encode(template)
            let bad = try encoder.encode(template, fault: fault)
            if Self.ofSignatureAlone.contains(fault) {
                #expect(try !Self.isSigned(bad), "\(fault)")
            } else {
                #expect(Self.withoutSignature(bad) != Self.withoutSignature(good) || bad.count != good.count)
            }
        }
        #expect(count > 0)
    }

    @Test("has a lower-case name with digits and hyphens, and an explanation", arguments: SignedPayloadFault.allCases)
    func names(fault: SignedPayloadFault) {
        #expect(fault.rawValue.allSatisfy { $0 == "-" || ("a"..."z").contains($0) || ("0"..."9").contains($0) })
        #expect(SignedPayloadFault(rawValue: fault.rawValue) == fault)
        #expect(fault.explanation.hasSuffix("."))
    }

    @Test("applies to all kinds, except those of the bundle identifier and of nested data")
    func applicable() {
        let all = SignedPayloadFault.allCases
        let nested: [SignedPayloadFault] = [.forgedNestedData, .nestedDataOfAnotherApp]
        let bundle: [SignedPayloadFault] = [.wrongBundleID, .missingBundleID]
        #expect(SignedPayloadFault.applicable(to: World.transaction) == all.filter { !nested.contains($0) })
        #expect(
            SignedPayloadFault.applicable(to: World.renewalInfo) == all.filter { !(nested + bundle).contains($0) })
        #expect(SignedPayloadFault.applicable(to: World.appTransaction) == all.filter { !nested.contains($0) })
        // A notification without its own date around signed payloads has their date.
        #expect(SignedPayloadFault.applicable(to: World.notification) == all.filter { $0 != .missingSignedDate })
    }

    @Test("changes the header as its name says")
    func headers() throws {
        func header(_ fault: SignedPayloadFault) throws -> [String: Any] {
            try CompactText(try encode(fault)).headerMembers()
        }
        let store = try World.store().signedPayload
        let chain = [store.leaf, store.intermediate, store.root].map(\.certificate)
        func certificates(_ fault: SignedPayloadFault) throws -> [[UInt8]] {
            try CompactText(try encode(fault)).certificates()
        }
        #expect(try certificates(.swappedX5C) == [chain[1], chain[0], chain[2]])
        #expect(try certificates(.x5cOfOne) == [chain[0]])
        #expect(try certificates(.x5cOfTwo) == [chain[0], chain[1]])
        #expect(try certificates(.x5cOfFour) == chain + [chain[2]])
        #expect(try certificates(.ownLeaf).dropFirst() == chain.dropFirst())
        #expect(try certificates(.ownLeaf).first != chain[0])
        #expect(try certificates(.embeddedKey) == chain)
        #expect(try header(.missingX5C)["x5c"] == nil)
        #expect(try header(.algNone)["alg"] as? String == "none")
        #expect(try header(.hs256WithPublicKey)["alg"] as? String == "HS256")
        #expect(try header(.algES384)["alg"] as? String == "ES384")
        #expect(try header(.algRS256)["alg"] as? String == "RS256")
        #expect((try header(.embeddedKey)["jwk"] as? [String: Any])?["crv"] as? String == "P-256")
    }

    @Test("changes the signature as its name says")
    func signatures() throws {
        func signature(_ fault: SignedPayloadFault) throws -> [UInt8] {
            try CompactText(try encode(fault)).signature
        }
        #expect(try signature(.algNone).isEmpty)
        #expect(try signature(.hs256WithPublicKey).count == 32)
        #expect(try signature(.longSignature).count == 96)
        #expect(try signature(.zeroSignature) == [UInt8](repeating: 0, count: 64))
        #expect(try ASN1Element(try signature(.derSignature)).children().map(\.tag) == [0x02, 0x02])
    }

    @Test("changes the content as its name says, and keeps it valid JSON")
    func content() throws {
        func claims(_ fault: SignedPayloadFault) throws -> [String: Any] {
            try CompactText(try encode(fault)).claims()
        }
        #expect(try claims(.wrongBundleID)["bundleId"] as? String == "com.example.app.other")
        #expect(try claims(.missingBundleID)["bundleId"] == nil)
        #expect(try claims(.missingSignedDate)["signedDate"] == nil)
        #expect(try claims(.xcodeEnvironment)["environment"] as? String == "Xcode")
        #expect(try claims(.editedClaims)["productId"] as? String == "year.premium")
        #expect(try claims(.flippedPayloadByte)["productId"] as? String == "yeas")
        #expect(throws: (any Error).self) { try claims(.payloadNotJSON) }
        let app = try CompactText(
            try SignedPayloadEncoder(authority: try World.store()).encode(
                World.appTransaction, fault: .missingSignedDate))
        #expect(try app.claims()["receiptCreationDate"] == nil)
    }

    @Test("of nested data leaves the envelope genuine")
    func nested() throws {
        let store = try World.store()
        func transaction(_ fault: SignedPayloadFault) throws -> CompactText {
            let text = try SignedPayloadEncoder(authority: store).encode(World.notification, fault: fault)
            let envelope = try CompactText(text)
            #expect(try envelope.certificates().first == store.signedPayload.leaf.certificate)
            let data = try #require(try envelope.claims()["data"] as? [String: Any])
            return try CompactText(try #require(data["signedTransactionInfo"] as? String))
        }
        let forged = try transaction(.forgedNestedData)
        #expect(try forged.certificates().first != store.signedPayload.leaf.certificate)
        #expect(forged.payload == World.transaction.payload { _ in "" })
        let other = try transaction(.nestedDataOfAnotherApp)
        #expect(try other.claims()["bundleId"] as? String == "com.example.app.other")
    }

    @Test(
        "breaks the signature or the chain for OpenSSL exactly if its explanation says so",
        .enabled(if: OpenSSL.isInstalled, OpenSSL.absence), arguments: SignedPayloadFault.allCases)
    func openSSL(fault: SignedPayloadFault) throws {
        // Those without three parts of base64, a leaf in the first place, or a signature of r and s.
        let unreadable: Set<SignedPayloadFault> = [
            .swappedX5C, .x5cOfOne, .missingX5C, .derSignature, .algNone, .hs256WithPublicKey, .truncated, .fourthPart,
            .paddedBase64, .forgedNestedData, .nestedDataOfAnotherApp, .oversized,
        ]
        guard !unreadable.contains(fault) else { return }
        let store = try World.store()
        let text = try CompactText(try encode(fault))
        let chain = try text.certificates()
        let broken = Self.ofSignatureAlone.union([.embeddedKey, .flippedPayloadByte, .editedClaims])
        let signature = try OpenSSL.verify(text.derSignature, of: text.signedBytes, by: chain[0], digest: "sha256")
        #expect(signature.isGood == !broken.contains(fault), "\(signature.text)")

        let verdict = try OpenSSL.verify(
            chain[0], below: [chain[1]], anchor: store.signedPayload.root, at: World.creationDate)
        let words = Self.complaint(fault)
        #expect(verdict.isGood == (words == nil), "\(verdict.text)")
        #expect(words.map(verdict.text.contains) ?? true, "\(verdict.text)")
    }

    private static func complaint(_ fault: SignedPayloadFault) -> String? {
        switch fault {
        case .wrongRoot, .ownLeaf: "unable to get local issuer certificate"
        case .expiredChain, .expiredLeaf, .expiredIntermediate: "certificate has expired"
        case .leafNotYetValid: "certificate is not yet valid"
        case .notAnAuthority: "invalid CA certificate"
        default: nil
        }
    }

    /// Differs only in the octets of the signature.
    private static let ofSignatureAlone: Set<SignedPayloadFault> = [
        .foreignSignature, .flippedSignatureByte, .reusedSignature, .zeroSignature,
    ]

    /// Whether OpenSSL accepts the signature; if it is not installed, a signature does not count.
    private static func isSigned(_ text: String) throws -> Bool {
        guard OpenSSL.isInstalled else { return false }
        let compact = try CompactText(text)
        let leaf = try #require(try compact.certificates().first)
        return try OpenSSL.verify(compact.derSignature, of: compact.signedBytes, by: leaf, digest: "sha256").isGood
    }

    private static func withoutSignature(_ text: String) -> String {
        text.split(separator: ".").prefix(2).joined(separator: ".")
    }

    private func encode(_ fault: SignedPayloadFault) throws -> String {
        try SignedPayloadEncoder(authority: try World.store()).encode(World.transaction, fault: fault)
    }
}
