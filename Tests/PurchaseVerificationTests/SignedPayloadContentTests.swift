import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("The content of signed data")
struct SignedPayloadContentTests {
    private func verified(
        _ bytes: [UInt8], _ policies: [any PurchasePolicy] = []
    ) throws -> VerifiedEvidence {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        return try PurchaseVerifier(anchors: anchors).verify(bytes, policies: policies)
    }

    private func transaction(_ bytes: [UInt8]) throws -> SignedTransaction {
        guard case .signedTransaction(let transaction) = try verified(bytes) else { throw CorpusError.empty }
        return transaction
    }

    private func notification(_ bytes: [UInt8]) throws -> AppStoreNotification {
        guard case .notification(let notification) = try verified(bytes) else { throw CorpusError.empty }
        return notification
    }

    private let moment = AppStoreTime(MintedWorld.moment)
    private let later = MintedWorld.moment.addingTimeInterval(86_400)

    @Test("Every claim of a transaction is read into its type")
    func transactionClaims() throws {
        var template = MintedWorld.transaction()
        template.appAccountToken = "7edea87d-98f0-42d0-9682-49ca81022f73"
        template.revocationReason = 1
        template.revocationDate = later
        template.revocationType = "REFUND_PRORATED"
        template.revocationPercentage = 50_000
        template.isUpgraded = true
        template.offerType = 2
        template.offerIdentifier = "spring"
        template.offerDiscountType = "PAY_AS_YOU_GO"
        template.offerPeriod = "P1M"
        template.billingPlanType = "MONTHLY"
        template.commitmentInfo = [Claim("count", .integer(12))]
        template.advancedCommerceInfo = [Claim("sku", .string("a"))]
        template.extra = [
            Claim("later", .array([.null, .boolean(true), .number(0.5), .string("ü")])), Claim("nothing", .null),
        ]
        let claims = try transaction(try MintedWorld.mint(template))
        #expect(claims.transactionID == "2000000000000004")
        #expect(claims.originalTransactionID == "2000000000000003")
        #expect(claims.webOrderLineItemID == template.webOrderLineItemID)
        #expect(claims.bundleID == "com.example.app")
        #expect(claims.productID == "com.example.app.monthly")
        #expect(claims.subscriptionGroupIdentifier == "20749162")
        #expect(claims.purchaseDate == moment)
        #expect(claims.originalPurchaseDate == template.originalPurchaseDate.map { AppStoreTime($0) })
        #expect(claims.expiresDate == template.expiresDate.map { AppStoreTime($0) })
        #expect(claims.quantity == 1)
        #expect(claims.productType == .autoRenewableSubscription)
        #expect(claims.appAccountToken == UUID(uuidString: "7edea87d-98f0-42d0-9682-49ca81022f73"))
        #expect(claims.ownershipType == .purchased)
        #expect(claims.signedDate == moment)
        #expect(claims.revocationReason == .issueInApp)
        #expect(claims.revocationDate == AppStoreTime(later))
        #expect(claims.revocationType == .proratedRefund)
        #expect(claims.revocationPercentage == 50_000)
        #expect(claims.isUpgraded == true)
        #expect(claims.offerType == .promotional)
        #expect(claims.offerIdentifier == "spring")
        #expect(claims.offerDiscountType == .payAsYouGo)
        #expect(claims.offerPeriod == "P1M")
        #expect(claims.environment == .sandbox)
        #expect(claims.storefront == "USA")
        #expect(claims.storefrontID == "143441")
        #expect(claims.transactionReason == .renewal)
        #expect(claims.currency == "USD")
        #expect(claims.price == 990)
        #expect(claims.appTransactionID == template.appTransactionID)
        #expect(claims.billingPlanType == "MONTHLY")
        #expect(claims.commitmentInfo == .object(["count": .integer(12)]))
        #expect(claims.advancedCommerceInfo == .object(["sku": .string("a")]))
        #expect(claims.deviceVerification == template.deviceVerification?.value)
        #expect(claims.deviceVerificationNonce == template.deviceVerification?.nonce.uuidString.lowercased())
        #expect(
            claims.otherClaims == [
                "later": .array([.null, .boolean(true), .number(0.5), .string("ü")]), "nothing": .null,
            ])
        #expect(claims.payload == template.payload { _ in "" })
    }

    @Test("Every claim of renewal info is read into its type")
    func renewalInfoClaims() throws {
        var template = MintedWorld.renewalInfo()
        template.expirationIntent = 2
        template.priceIncreaseStatus = 1
        template.gracePeriodExpiresDate = later
        template.offerType = 4
        template.offerIdentifier = "back"
        template.offerDiscountType = "FREE_TRIAL"
        template.offerPeriod = "P2W"
        template.eligibleWinBackOfferIDs = ["a", "b"]
        template.appAccountToken = "7edea87d-98f0-42d0-9682-49ca81022f73"
        template.renewalBillingPlanType = "MONTHLY"
        template.commitmentInfo = [Claim("count", .integer(12))]
        template.advancedCommerceInfo = [Claim("sku", .string("a"))]
        template.extra = [Claim("later", .integer(7))]
        guard case .signedRenewalInfo(let claims) = try verified(try MintedWorld.mint(template)) else {
            throw CorpusError.empty
        }
        #expect(claims.expirationIntent == .billingError)
        #expect(claims.originalTransactionID == "2000000000000003")
        #expect(claims.autoRenewProductID == "com.example.app.monthly")
        #expect(claims.productID == "com.example.app.monthly")
        #expect(claims.autoRenewStatus?.rawValue == 1)
        #expect(claims.isInBillingRetryPeriod == false)
        #expect(claims.priceIncreaseStatus?.rawValue == 1)
        #expect(claims.gracePeriodExpiresDate == AppStoreTime(later))
        #expect(claims.offerType == .winBack)
        #expect(claims.offerIdentifier == "back")
        #expect(claims.offerDiscountType == .freeTrial)
        #expect(claims.offerPeriod == "P2W")
        #expect(claims.signedDate == moment)
        #expect(claims.environment == .sandbox)
        #expect(claims.recentSubscriptionStartDate == template.recentSubscriptionStartDate.map { AppStoreTime($0) })
        #expect(claims.renewalDate == template.renewalDate.map { AppStoreTime($0) })
        #expect(claims.renewalPrice == 990)
        #expect(claims.currency == "USD")
        #expect(claims.eligibleWinBackOfferIDs == ["a", "b"])
        #expect(claims.appAccountToken == UUID(uuidString: "7edea87d-98f0-42d0-9682-49ca81022f73"))
        #expect(claims.appTransactionID == template.appTransactionID)
        #expect(claims.renewalBillingPlanType == "MONTHLY")
        #expect(claims.commitmentInfo == .object(["count": .integer(12)]))
        #expect(claims.advancedCommerceInfo == .object(["sku": .string("a")]))
        #expect(claims.deviceVerification == template.deviceVerification?.value)
        #expect(claims.otherClaims == ["later": .integer(7)])
    }

    @Test("Every claim of an app transaction is read into its type")
    func appTransactionClaims() throws {
        var template = MintedWorld.appTransaction(environment: "Production")
        template.preorderDate = later
        template.extra = [Claim("later", .object([Claim("a", .integer(1))]))]
        guard case .appTransaction(let claims) = try verified(try MintedWorld.mint(template)) else {
            throw CorpusError.empty
        }
        #expect(claims.environment == .production)
        #expect(claims.receiptType == "Production")
        #expect(claims.appAppleID == 1_234_567_890)
        #expect(claims.bundleID == "com.example.app")
        #expect(claims.applicationVersion == "7")
        #expect(claims.versionExternalIdentifier == 870_000_001)
        #expect(claims.creationDate == moment)
        #expect(claims.requestDate == moment)
        #expect(claims.originalPurchaseDate == template.originalPurchaseDate.map { AppStoreTime($0) })
        #expect(claims.originalApplicationVersion == "1.0")
        #expect(claims.preorderDate == AppStoreTime(later))
        #expect(claims.appTransactionID == template.appTransactionID)
        #expect(claims.originalPlatform == .iOS)
        #expect(claims.deviceVerification == template.deviceVerification?.value)
        #expect(claims.otherClaims == ["later": .object(["a": .integer(1)])])
    }

    @Test("A notification is read with its nested data, and inspect shows the same")
    func notificationClaims() throws {
        var template = MintedWorld.notification(environment: "Production")
        template.subtype = "BILLING_RECOVERY"
        template.data?.consumptionRequestReason = "LEGAL"
        template.data?.extra = [Claim("later", .integer(1))]
        template.extra = [Claim("latest", .boolean(false))]
        let bytes = try MintedWorld.mint(template)
        let claims = try notification(bytes)
        #expect(claims.notificationType == .didRenew)
        #expect(claims.subtype == .billingRecovery)
        #expect(claims.notificationUUID == template.notificationUUID)
        #expect(claims.version == "2.0")
        #expect(claims.signedDate == moment)
        #expect(claims.environment == .production)
        #expect(claims.bundleID == "com.example.app")
        #expect(claims.appAppleID == 1_234_567_890)
        #expect(claims.data?.bundleVersion == "7")
        #expect(claims.data?.status == .active)
        #expect(claims.data?.consumptionRequestReason == .legal)
        #expect(claims.data?.otherClaims == ["later": .integer(1)])
        #expect(claims.otherClaims == ["latest": .boolean(false)])
        #expect(claims.transaction?.transactionID == "2000000000000004")
        #expect(claims.renewalInfo?.autoRenewProductID == "com.example.app.monthly")
        #expect(claims.appTransaction == nil)
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let known = TransactionPolicy(TransactionFacts(transactionID: "2000000000000004"))
        let inspection = PurchaseVerifier(anchors: anchors).inspect(bytes, policies: [known])
        #expect(inspection.firstFailure == nil)
        guard case .notification(let shown) = inspection.content else { throw CorpusError.empty }
        #expect(shown.transaction?.payload == claims.transaction?.payload)
        #expect(shown.renewalInfo?.payload == claims.renewalInfo?.payload)
    }

    @Test("The subject of a notification may be a summary, a token or the app")
    func notificationParts() throws {
        var template = NotificationTemplate()
        template.notificationType = "RENEWAL_EXTENSION"
        template.signedDate = MintedWorld.moment
        var summary = NotificationTemplate.Summary()
        summary.requestIdentifier = "request"
        summary.environment = "Production"
        summary.appAppleID = 42
        summary.bundleID = "com.example.app"
        summary.productID = "monthly"
        summary.storefrontCountryCodes = ["USA", "DEU"]
        summary.failedCount = 1
        summary.succeededCount = 9
        template.summary = summary
        let aboutSummary = try notification(try MintedWorld.mint(template))
        #expect(aboutSummary.summary?.requestIdentifier == "request")
        #expect(aboutSummary.summary?.productID == "monthly")
        #expect(aboutSummary.summary?.storefrontCountryCodes == ["USA", "DEU"])
        #expect(aboutSummary.summary?.failedCount == 1)
        #expect(aboutSummary.summary?.succeededCount == 9)
        #expect(aboutSummary.appAppleID == 42)
        #expect(aboutSummary.environment == .production)

        template.summary = nil
        var token = NotificationTemplate.ExternalPurchaseToken()
        token.externalPurchaseID = "SANDBOX_1"
        token.tokenCreationDate = MintedWorld.moment
        token.tokenExpirationDate = later
        token.tokenType = "ACQUISITION"
        token.appAppleID = 42
        token.bundleID = "com.example.app"
        template.externalPurchaseToken = token
        let aboutToken = try notification(try MintedWorld.mint(template))
        #expect(aboutToken.externalPurchaseToken?.tokenCreationDate == moment)
        #expect(aboutToken.externalPurchaseToken?.tokenExpirationDate == AppStoreTime(later))
        #expect(aboutToken.externalPurchaseToken?.tokenType == "ACQUISITION")
        #expect(aboutToken.externalPurchaseToken?.otherClaims.isEmpty == true)
        #expect(aboutToken.bundleID == "com.example.app")
        #expect(aboutToken.environment == .sandbox)
        template.externalPurchaseToken?.externalPurchaseID = "1"
        #expect(try notification(try MintedWorld.mint(template)).environment == .production)

        template.externalPurchaseToken = nil
        var app = NotificationTemplate.AppData()
        app.bundleID = "com.example.app"
        app.environment = "Sandbox"
        app.appTransaction = MintedWorld.appTransaction()
        template.appData = app
        let aboutApp = try notification(try MintedWorld.mint(template))
        #expect(aboutApp.appTransaction?.bundleID == "com.example.app")
        #expect(aboutApp.transaction == nil)
        #expect(aboutApp.environment == .sandbox)
    }

    @Test("Unknown values of open sets and of descriptive claims stay readable")
    func unknownValues() throws {
        var template = MintedWorld.transaction()
        template.type = .init(rawValue: "Rental")
        template.inAppOwnershipType = "LENT"
        template.revocationReason = 99
        template.offerType = 77
        template.price = nil
        template.extra = [Claim("price", .string("9.90"))]
        let claims = try transaction(try MintedWorld.mint(template))
        #expect(claims.productType?.rawValue == "Rental")
        #expect(claims.ownershipType?.rawValue == "LENT")
        #expect(claims.revocationReason?.rawValue == 99)
        #expect(claims.offerType?.rawValue == 77)
        #expect(claims.price == nil)
        #expect(claims.otherClaims["price"] == .string("9.90"))
        var notification = MintedWorld.testNotification(environment: "Elsewhere")
        notification.notificationType = "NEW_TYPE"
        notification.subtype = "NEW_SUBTYPE"
        notification.data?.status = 9
        let read = try self.notification(try MintedWorld.mint(notification))
        #expect(read.notificationType?.rawValue == "NEW_TYPE")
        #expect(read.subtype?.rawValue == "NEW_SUBTYPE")
        #expect(read.data?.status?.rawValue == 9)
        #expect(read.environment == .other("Elsewhere"))
    }

    @Test("Dates may have fractions of a millisecond, which are rounded down")
    func fractions() throws {
        let payload = ClaimsText.object(ClaimsText.transaction, ["purchaseDate": "1697679936049.7297"])
        let claims = try transaction(try HandmadeJWS(payload).bytes())
        #expect(claims.purchaseDate?.millisecondsSince1970 == 1_697_679_936_049)
    }

    @Test("Xcode's distantPast for an absent date is read, and so is any other date before 1970")
    func distantPast() throws {
        for (text, milliseconds) in [
            ("-62135769600000", -62_135_769_600_000), ("-62135769600000.0", -62_135_769_600_000), ("-1", -1),
            ("-0.5", -1),
        ] as [(String, Int64)] {
            let payload = ClaimsText.object(ClaimsText.appTransaction, ["originalPurchaseDate": text])
            guard case .appTransaction(let read) = try verified(try HandmadeJWS(payload).bytes()) else {
                throw CorpusError.empty
            }
            #expect(read.originalPurchaseDate?.millisecondsSince1970 == milliseconds)
        }
    }

    @Test("A value outside of an open set stays readable unchanged")
    func longDescriptions() throws {
        for text in ["e\u{301}", String(repeating: "a", count: 65)] {
            let payload = ClaimsText.object(ClaimsText.transaction, ["offerDiscountType": "\"\(text)\""])
            let claims = try transaction(try HandmadeJWS(payload).bytes())
            #expect(claims.offerDiscountType == nil)
            #expect(claims.otherClaims["offerDiscountType"] == .string(text))
        }
    }

    @Test("The transaction id decides the environment of a payload that does not state it")
    func unstatedEnvironment() throws {
        let sandbox = ClaimsText.object(ClaimsText.transaction, ["environment": nil])
        #expect(try transaction(try HandmadeJWS(sandbox).bytes()).environment == .sandbox)
        let production = ClaimsText.object(
            ClaimsText.transaction, ["environment": nil, "transactionId": #""430000000000004""#])
        #expect(try transaction(try HandmadeJWS(production).bytes()).environment == .production)
        let stated = ClaimsText.object(ClaimsText.transaction, ["environment": #""Production""#])
        #expect(try transaction(try HandmadeJWS(stated).bytes()).environment == .production)
    }

    @Test("It is for its device and for no other; a Mac also has a UUID")
    func device() throws {
        let right = DeviceIdentifier(identifierForVendor: MintedWorld.device)
        for template in [MintedWorld.transaction(), MintedWorld.renewalInfo(), MintedWorld.appTransaction()]
            as [any SignedPayloadTemplate]
        {
            let bytes = try MintedWorld.mint(template)
            _ = try verified(bytes, [DeviceHashPolicy(right)])
            for index in right.bytes.indices {
                var other = right.bytes
                other[index] ^= 1
                #expect(throws: VerificationError.self) {
                    try verified(bytes, [DeviceHashPolicy(DeviceIdentifier(bytes: other))])
                }
            }
        }
    }

    @Test("A notification without signedDate is checked at the latest date of its nested data")
    func undated() throws {
        func payload(_ claims: [String: String], _ milliseconds: String) throws -> String {
            try HandmadeJWS(ClaimsText.object(claims, ["signedDate": milliseconds])).text()
        }
        let earlier = "\(moment.millisecondsSince1970 - 1000)"
        let transaction = try payload(ClaimsText.transaction, earlier)
        let renewalInfo = try payload(ClaimsText.renewalInfo, ClaimsText.moment)
        let data = """
            {"bundleId":"com.example.app","environment":"Sandbox","signedTransactionInfo":"\(transaction)",\
            "signedRenewalInfo":"\(renewalInfo)"}
            """
        let bytes = try HandmadeJWS(
            ClaimsText.object(ClaimsText.notification, ["signedDate": nil, "data": data])
        ).bytes()
        let verifier = PurchaseVerifier(
            anchors: try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) })
        // The second time the header is remembered.
        for _ in 0..<2 {
            guard case .notification(let read) = try verifier.verify(bytes, policies: []) else {
                throw CorpusError.empty
            }
            #expect(read.signedDate == nil)
            #expect(read.signingDate == moment)
            _ = try verifier.verify(bytes, policies: [FreshnessPolicy(at: moment, limit: 0)])
        }
        #expect(verifier.inspect(bytes, policies: []).firstFailure == nil)
    }
}
