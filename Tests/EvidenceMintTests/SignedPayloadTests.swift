import EvidenceMint
import Foundation
import TestSupport
import Testing

@Suite("Signed data")
struct SignedPayloadTests {
    @Test("has exactly ES256 and leaf, intermediate and root in its header, and a signature of 64 octets")
    func header() throws {
        let store = try World.store()
        let chain = [store.signedPayload.leaf, store.signedPayload.intermediate, store.signedPayload.root].map(
            \.certificate)
        for template in World.signedPayload {
            let text = try CompactText(try SignedPayloadEncoder(authority: store).encode(template))
            let x5c = chain.map { "\"\(Data($0).base64EncodedString())\"" }.joined(separator: ",")
            #expect(text.headerText == "{\"alg\":\"ES256\",\"x5c\":[\(x5c)]}")
            #expect(text.signature.count == 64)
        }
    }

    @Test("writes claims in Apple's order, dates in whole milliseconds, and no white space")
    func claims() throws {
        var template = World.transaction
        template.deviceVerification = nil
        template.appAccountToken = "207262da-0000-4000-8000-000000000000"
        template.extra = [Claim("later", .array([.null, .boolean(true), .number(0.5), .string("a/\"b\"\n")]))]
        #expect(
            try payload(template)
                == #"{"transactionId":"2000000000000003","originalTransactionId":"2000000000000002","#
                + #""webOrderLineItemId":"2000000000000003","bundleId":"com.example.app","productId":"year","#
                + #""subscriptionGroupIdentifier":"20749162","purchaseDate":1720000000000,"#
                + #""originalPurchaseDate":1720000000000,"expiresDate":1720003600000,"quantity":1,"#
                + #""type":"Auto-Renewable Subscription","appAccountToken":"207262da-0000-4000-8000-000000000000","#
                + #""inAppOwnershipType":"PURCHASED","signedDate":1720000000000,"environment":"Sandbox","#
                + #""transactionReason":"RENEWAL","storefront":"USA","storefrontId":"143441","price":990,"#
                + #""currency":"USD","appTransactionId":"700000000000000001","#
                + #""later":[null,true,0.5,"a/\"b\"\u000a"]}"#)
    }

    @Test("names its device by the hash of nonce and device, both in lower case")
    func device() throws {
        let nonce = try #require(UUID(uuidString: "7EDEA87D-98F0-42D0-9682-49CA81022F73"))
        let text = "7edea87d-98f0-42d0-9682-49ca81022f73" + "00010203-0405-0607-0809-0a0b0c0d0e0f"
        let scratch = try ScratchFolder()
        let verification = DeviceVerification(nonce: nonce, deviceID: World.device)
        if OpenSSL.isInstalled {
            let file = try scratch.file("text", Array(text.utf8))
            let output = scratch.url.appendingPathComponent("digest").path
            #expect(try OpenSSL.run(["dgst", "-sha384", "-binary", "-out", output, file]).isGood)
            #expect(Data(try scratch.bytes("digest")).base64EncodedString() == verification.value)
        }
        #expect(Data(base64Encoded: verification.value)?.count == 48)
        for template in [World.transaction, World.appTransaction] as [any SignedPayloadTemplate] {
            let claims = try CompactText(try encode(template)).claims()
            let written = try #require(claims["deviceVerificationNonce"] as? String)
            #expect(written == written.lowercased())
            let proof = DeviceVerification(nonce: try #require(UUID(uuidString: written)), deviceID: World.device)
            #expect(claims["deviceVerification"] as? String == proof.value)
        }
    }

    @Test("in a notification is signed by the same authority, each part separately")
    func notification() throws {
        let text = try CompactText(try encode(World.notification))
        let claims = try text.claims()
        #expect(claims["notificationType"] as? String == "SUBSCRIBED")
        #expect(claims["version"] as? String == "2.0")
        let data = try #require(claims["data"] as? [String: Any])
        let transaction = try CompactText(try #require(data["signedTransactionInfo"] as? String))
        let renewal = try CompactText(try #require(data["signedRenewalInfo"] as? String))
        #expect(try transaction.certificates() == text.certificates())
        #expect(transaction.payload == World.transaction.payload { _ in "" })
        #expect(renewal.payload == World.renewalInfo.payload { _ in "" })
        #expect(
            text.payloadText.hasPrefix(
                #"{"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","notificationUUID":""#))
        #expect(text.payloadText.hasSuffix(#"","status":1},"version":"2.0","signedDate":1720000000000}"#))
    }

    @Test("of Xcode's kind has a key identifier, one certificate, and dates with fractions of a millisecond")
    func xcode() throws {
        let signer = try World.xcodeSigner()
        let text = try CompactText(try signer.encode(World.transaction.asXcodeWritesIt))
        #expect(text.headerText.hasPrefix(#"{"kid":"Apple_Xcode_Key","typ":"JWT","x5c":[""#))
        #expect(try text.certificates() == [signer.payloadIdentity.certificate])
        #expect(text.payloadText.contains(#""purchaseDate":1720000000000.2441,"#))
        #expect(text.payloadText.contains(#""environment":"Xcode""#))
        for template in [World.renewalInfo.asXcodeWritesIt, World.appTransaction.asXcodeWritesIt]
            as [any SignedPayloadTemplate]
        {
            let payload = try CompactText(try signer.encode(template)).payloadText
            #expect(payload.contains("1720000000000.2441"))
            #expect(payload.contains("\"Xcode\""))
        }
    }

    @Test("verifies with OpenSSL, signature and chain", .enabled(if: OpenSSL.isInstalled, OpenSSL.absence))
    func openSSL() throws {
        let store = try World.store()
        for template in World.signedPayload {
            let text = try CompactText(try encode(template))
            let chain = try text.certificates()
            #expect(
                try OpenSSL.verify(text.derSignature, of: text.signedBytes, by: chain[0], digest: "sha256").isGood)
            let verdict = try OpenSSL.verify(
                chain[0], below: [chain[1]], anchor: store.signedPayload.root, at: World.creationDate)
            #expect(verdict.isGood, "\(verdict.text)")
            #expect(
                try !OpenSSL.verify(chain[0], below: [chain[1]], anchor: store.receipts.root, at: World.creationDate)
                    .isGood)
        }
        let xcode = try CompactText(try World.xcodeSigner().encode(World.transaction.asXcodeWritesIt))
        let certificate = try #require(try xcode.certificates().first)
        #expect(
            try OpenSSL.verify(xcode.derSignature, of: xcode.signedBytes, by: certificate, digest: "sha256").isGood)
    }

    private func encode(_ template: any SignedPayloadTemplate) throws -> String {
        try SignedPayloadEncoder(authority: try World.store()).encode(template)
    }

    private func payload(_ template: any SignedPayloadTemplate) throws -> String {
        try CompactText(try encode(template)).payloadText
    }
}
