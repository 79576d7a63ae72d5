import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("Claims of the live store")
struct LiveStoreClaimsTests {
    private struct OtherKind: Error {}

    private func verified(_ json: String, _ policies: [any PurchasePolicy] = []) throws -> VerifiedEvidence {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let bytes = try HandmadeJWS(json).bytes()
        let verifier = PurchaseVerifier(anchors: TrustAnchor.apple + anchors)
        #expect(verifier.inspect(bytes, policies: policies).firstFailure == nil)
        return try verifier.verify(bytes, policies: policies)
    }

    private func notification(_ changes: [String: String?]) throws -> AppStoreNotification {
        let json = ClaimsText.object(ClaimsText.notification, changes)
        guard case .notification(let notification) = try verified(json) else { throw OtherKind() }
        return notification
    }

    private func transaction(_ changes: [String: String?]) throws -> SignedTransaction {
        let json = ClaimsText.object(ClaimsText.transaction, changes)
        guard case .signedTransaction(let transaction) = try verified(json) else { throw OtherKind() }
        return transaction
    }

    private func renewalInfo(_ changes: [String: String?]) throws -> SignedRenewalInfo {
        let json = ClaimsText.object(ClaimsText.renewalInfo, changes)
        guard case .signedRenewalInfo(let renewal) = try verified(json) else { throw OtherKind() }
        return renewal
    }

    private static let app = #""bundleId":"com.example.app","appAppleId":7,"environment":"Sandbox""#
    private static let policies: [any PurchasePolicy] = [
        EnvironmentPolicy(accepting: [.sandbox]), BundleIDPolicy("com.example.app"),
    ]

    @Test("F.1 A notification about seats names its app, and the seats whose access ends")
    func unclaimInfo() throws {
        let notification = try notification([
            "notificationType": #""UNCLAIM_SEATS""#,
            "unclaimInfo": #"{\#(Self.app),"unclaimSeatIds":["a","b"],"why":1}"#,
        ])
        #expect(notification.notificationType == .unclaimSeats)
        #expect(notification.unclaimInfo?.unclaimSeatIDs == ["a", "b"])
        #expect(notification.unclaimInfo?.otherClaims == ["why": .integer(1)])
        #expect(notification.bundleID == "com.example.app" && notification.appAppleID == 7)
        #expect(notification.environment == .sandbox)
    }

    @Test("F.1 An object that nobody knows yet names its app, passes the app's policies, and stays raw")
    func unknownObject() throws {
        let json = ClaimsText.object(
            ClaimsText.notification,
            ["notificationType": #""BUNDLE_CHANGED""#, "bundleInfo": #"{\#(Self.app),"parts":[{"a":1}]}"#])
        guard case .notification(let notification) = try verified(json, Self.policies) else { throw OtherKind() }
        #expect(notification.notificationType?.rawValue == "BUNDLE_CHANGED")
        #expect(notification.bundleID == "com.example.app" && notification.environment == .sandbox)
        guard case .object(let members) = notification.otherClaims["bundleInfo"] else { throw OtherKind() }
        #expect(members["parts"] == .array([.object(["a": .integer(1)])]))
    }

    @Test(
        "F.1 A notification whose body names no app, is of another type, or is missing is read as well",
        arguments: [
            #"{"parts":[]}"#, #"{"bundleId":5,"environment":[]}"#, "[1,2]", #""text""#, "null", "7", "{}",
        ])
    func namelessObject(body: String) throws {
        let notification = try notification(["notificationType": #""NEW""#, "newInfo": body])
        #expect(notification.bundleID == nil && notification.environment == nil && notification.transaction == nil)
    }

    @Test("F.1 Two unknown objects that name different apps name none")
    func twoApps() throws {
        let notification = try notification(["a": #"{"bundleId":"x"}"#, "b": #"{"bundleId":"y"}"#])
        #expect(notification.bundleID == nil)
    }

    @Test("F.1 Under a certificate that signs by itself, as Xcode's, a notification without an environment is refused")
    func alone() throws {
        let signer = try MintedWorld.xcodeSigner().payloadIdentity
        let verifier = PurchaseVerifier(anchors: [try TrustAnchor(certificate: signer.certificate)])
        var jws = try HandmadeJWS(
            ClaimsText.object(ClaimsText.notification),
            header: try HandmadeJWS.header(certificates: [signer.certificate]))
        jws.key = signer.privateKey
        let bytes = try jws.bytes()
        do throws(VerificationError) {
            _ = try verifier.verify(bytes, policies: [])
            Issue.record("accepted")
        } catch {
            #expect(error.code == .environmentNotVouchedFor, "\(error)")
        }
    }

    @Test("F.1 A realtime request of the Retention Messaging API is read, and proves no purchase")
    func realtimeRequest() throws {
        let template = RealtimeRequestTemplate(
            originalTransactionID: "2000000000000001", productID: "monthly", environment: "Sandbox",
            signedDate: MintedWorld.moment)
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let evidence = try PurchaseVerifier(anchors: anchors).verify(try MintedWorld.mint(template), policies: [])
        guard case .realtimeRequest(let request) = evidence else { throw OtherKind() }
        #expect(evidence.kind == .realtimeRequest && evidence.facts.transactions.isEmpty)
        #expect(request.originalTransactionID == "2000000000000001" && request.productID == "monthly")
        #expect(request.userLocale == "en-US" && request.appAppleID == 1_234_567_890)
        #expect(request.requestIdentifier == "2f6a9c1e-7c0d-4a52-9a3e-5f0a4f1d8b77")
        #expect(request.environment == .sandbox && request.otherClaims.isEmpty)
    }

    @Test("F.1 Seats, the reason for a further transaction, and the subscription that it continues are typed")
    func seats() throws {
        let seats =
            #"{"invitationManagement":"APPLE","priceTiers":[{"price":990,"quantity":5}],"revokedSeatQuantity":2,"new":true}"#
        let transaction = try transaction([
            "multiSeatInfo": seats, "additionalTransactionReason": #""SEATS_ADDED""#,
            "previousOriginalTransactionId": #""1999""#, "inAppOwnershipType": #""ASSIGNED""#, "quantity": "5",
        ])
        #expect(transaction.previousOriginalTransactionID == "1999")
        #expect(transaction.additionalTransactionReason?.rawValue == "SEATS_ADDED")
        #expect(transaction.ownershipType == .assigned)
        let info = try #require(transaction.multiSeatInfo)
        #expect(info.invitationManagement == .apple && info.revokedSeatQuantity == 2)
        #expect(info.priceTiers.map(\.price) == [990] && info.priceTiers.map(\.quantity) == [5])
        #expect(info.members["new"] == .boolean(true))
        #expect(transaction.otherClaims.isEmpty)

        let renewal = try renewalInfo([
            "renewalQuantity": "4",
            "multiSeatInfo": #"{"invitationManagement":"DEVELOPER","renewalPriceTiers":[{"price":1,"quantity":4}]}"#,
        ])
        #expect(renewal.renewalQuantity == 4 && renewal.multiSeatInfo?.invitationManagement == .developer)
        #expect(renewal.multiSeatInfo?.renewalPriceTiers.map(\.quantity) == [4])
        #expect(renewal.otherClaims.isEmpty)
    }

    @Test("F.1 New claims of another type than documented stay raw, and the transaction is read")
    func otherTypes() throws {
        let names = ["multiSeatInfo", "additionalTransactionReason", "previousOriginalTransactionId"]
        for value in ["5", "true", "[]", #"["x"]"#, "{}", #""text""#] {
            let read = try transaction(Dictionary(uniqueKeysWithValues: names.map { ($0, value) }))
            for name in names where !Self.fits(value, name) {
                #expect(read.otherClaims[name] != nil, "\(name): \(value)")
            }
        }
        #expect(try renewalInfo(["renewalQuantity": #""4""#]).otherClaims["renewalQuantity"] == .string("4"))
    }

    private static func fits(_ value: String, _ name: String) -> Bool {
        value == (name == "multiSeatInfo" ? "{}" : #""text""#)
    }

    @Test("F.1 The new types and subtypes have names")
    func types() {
        #expect(NotificationType.unclaimSeats.rawValue == "UNCLAIM_SEATS")
        #expect(NotificationType.migrate.rawValue == "MIGRATE" && NotificationType.migration.rawValue == "MIGRATION")
        let subtypes: [NotificationSubtype] = [.increaseQuantity, .decreaseQuantity, .seats]
        #expect(subtypes.map(\.rawValue) == ["INCREASE_QUANTITY", "DECREASE_QUANTITY", "SEATS"])
    }

    @Test("F.2 A payload without a date is refused for what is wrong with its header, if something is")
    func headerBeforeDate() throws {
        let undated = ClaimsText.object(ClaimsText.transaction, ["signedDate": nil])
        let chain = try HandmadeJWS.chain()
        let headers: [(String, ReasonCode)] = [
            (#"{"alg":"ES256","x5cwrong":[]}"#, .certificatesMissing),
            (try HandmadeJWS.header(alg: #""none""#), .jwsAlgorithmUnsupported),
            (try HandmadeJWS.header(more: #","crit":["exp"]"#), .jwsHeaderUnsupported),
            (try HandmadeJWS.header(alg: #"["ES256"]"#), .jwsHeaderMalformed),
            // It does not begin like a JWS.
            ("[]", .evidenceUnrecognized),
            (try HandmadeJWS.header(certificates: chain), .creationDateMissing),
        ]
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let verifier = PurchaseVerifier(anchors: anchors)
        for (header, code) in headers {
            let bytes = try HandmadeJWS(undated, header: header).bytes()
            do throws(VerificationError) {
                _ = try verifier.verify(bytes, policies: [])
                Issue.record("accepted")
            } catch {
                #expect(error.code == code, "\(error)")
            }
            #expect(verifier.inspect(bytes, policies: []).firstFailure?.code == code)
        }
    }

    @Test(
        "F.2 A purchase with attribute 1720 is read, whatever its form",
        arguments: [
            RawAttribute.utf8(1720, "an offer"), .integer(1720, 1), .ia5(1720, ""), RawAttribute(type: 1720, value: []),
            RawAttribute(type: 1720, value: [UInt8](repeating: 0x31, count: 300)),
        ])
    func attribute1720(attribute: RawAttribute) throws {
        var template = MintedWorld.receipt()
        for index in template.purchases.indices { template.purchases[index].extraAttributes.append(attribute) }
        let root = try MintedWorld.authority().root.certificate
        let verifier = PurchaseVerifier(anchors: [try TrustAnchor(certificate: root)])
        let receipt = try verifier.verifyAppReceipt(try MintedWorld.mint(template), policies: [])
        // The purchases of a receipt are a set, so the bytes of the attribute decide their order.
        #expect(
            Set(receipt.inAppPurchases.map(\.transactionID)) == Set(MintedWorld.purchases().map(\.transactionID)))
        #expect(receipt.inAppPurchases.count == MintedWorld.purchases().count)
        for purchase in receipt.inAppPurchases {
            #expect(purchase.attributes.contains { $0.type == 1720 })
        }
    }

    @Test("54.4 Attribute 1720 is a reason only beside a cancellation date, and only as 0 or 1")
    func cancellationReason() throws {
        let verifier = PurchaseVerifier(
            anchors: [try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)])
        let cases: [(attributes: [RawAttribute], isCancelled: Bool, expected: UInt64?)] = [
            ([.integer(1720, 1)], true, 1), ([.integer(1720, 0)], true, 0), ([.utf8(1720, "1")], true, 1),
            ([.ia5(1720, "0")], true, 0), ([.integer(1720, 1)], false, nil), ([], true, nil),
            ([.integer(1720, 2)], true, nil), ([.utf8(1720, "01")], true, nil), ([.utf8(1720, "")], true, nil),
            ([RawAttribute(type: 1720, value: [0x31])], true, nil),
        ]
        for item in cases {
            var template = MintedWorld.receipt()
            template.purchases = [MintedWorld.purchases()[1]]
            template.purchases[0].cancellationDate = item.isCancelled ? MintedWorld.moment : nil
            template.purchases[0].extraAttributes = item.attributes
            let receipt = try verifier.verifyAppReceipt(try MintedWorld.mint(template), policies: [])
            #expect(receipt.inAppPurchases.map(\.cancellationReason) == [item.expected], "\(item)")
        }
    }

    @Test("54.2 A bundle is read by the names of StoreKit, in either spelling, and its claims stay raw")
    func bundles() throws {
        let verifier = PurchaseVerifier(
            anchors: try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) })
        for ending in ["ID", "Id"] {
            var template = MintedWorld.transaction()
            template.extra = [
                Claim("bundleProduct\(ending)", .string("suite")), Claim("bundleTransaction\(ending)", .string("7")),
                Claim("bundleOriginalTransaction\(ending)", .string("6")),
                Claim("bundleSubscriptionGroup\(ending)", .string("5")),
            ]
            var renewal = MintedWorld.renewalInfo()
            renewal.extra = [
                Claim("bundleProduct\(ending)", .string("suite")), Claim("willUnbundle", .boolean(true)),
            ]
            guard
                case .signedTransaction(let transaction) = try verifier.verify(
                    try MintedWorld.mint(template), policies: []),
                case .signedRenewalInfo(let info) = try verifier.verify(try MintedWorld.mint(renewal), policies: [])
            else {
                Issue.record("another kind")
                return
            }
            let bundle = try #require(transaction.bundle)
            #expect(bundle.productID == "suite" && bundle.transactionID == "7" && bundle.willUnbundle == nil)
            #expect(bundle.originalTransactionID == "6" && bundle.subscriptionGroupID == "5")
            #expect(transaction.otherClaims["bundleProduct\(ending)"] == .string("suite"))
            #expect(info.bundle?.willUnbundle == true && info.bundle?.productID == "suite")
        }
        guard
            case .signedTransaction(let alone) = try verifier.verify(
                try MintedWorld.mint(MintedWorld.transaction()), policies: [])
        else { return }
        #expect(alone.bundle == nil)
    }
}
