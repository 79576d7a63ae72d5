import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("The content of a receipt")
struct ReceiptContentTests {
    private func verified(_ template: AppReceiptTemplate) throws -> AppReceipt {
        let anchor = try TrustAnchor(certificate: try MintedWorld.authority().root.certificate)
        return try PurchaseVerifier(anchors: [anchor]).verifyAppReceipt(try MintedWorld.mint(template), policies: [])
    }

    @Test("Every attribute of a receipt is read into its type")
    func receipt() throws {
        var template = AppReceiptTemplate.production(bundleID: "com.example.app", creationDate: MintedWorld.moment)
        template.adamID = 1_000_000_001
        template.downloadID = 503_000_000_000_000_007
        template.versionExternalIdentifier = UInt64.max
        template.applicationVersion = "4.2"
        template.originalApplicationVersion = "1.0"
        template.ageRating = "4+"
        template.sellerID = 2003
        template.opaqueValue = [1, 2, 3]
        let receipt = try verified(template)
        #expect(receipt.receiptType == "Production")
        #expect(receipt.environment == .production)
        #expect(receipt.appAppleID == 1_000_000_001)
        #expect(receipt.downloadID == 503_000_000_000_000_007)
        #expect(receipt.versionExternalIdentifier == UInt64.max)
        #expect(receipt.bundleID == "com.example.app")
        #expect(receipt.applicationVersion == "4.2")
        #expect(receipt.originalApplicationVersion == "1.0")
        #expect(receipt.ageRating == "4+")
        #expect(receipt.sellerID == 2003)
        #expect(receipt.store == 3)
        #expect(receipt.opaqueValue == [1, 2, 3])
        #expect(receipt.creationDate == AppStoreTime(MintedWorld.moment))
        #expect(receipt.sentReceiptCreationDate == AppStoreTime(MintedWorld.moment))
        #expect(receipt.originalPurchaseDate == template.originalPurchaseDate.map { AppStoreTime($0) })
        #expect(receipt.expirationDate == nil)
        #expect(receipt.inAppPurchases.isEmpty)
        #expect(receipt.signer?.trustAnchor.contains("Assay Simulator Root CA") == true)
    }

    @Test("Every attribute of a purchase is read into its type")
    func purchase() throws {
        var subscription = PurchaseTemplate.subscription(
            productID: "com.example.app.monthly", transactionID: "700000000000002",
            originalTransactionID: "700000000000001", purchaseDate: MintedWorld.moment,
            originalPurchaseDate: MintedWorld.moment.addingTimeInterval(-60),
            expiresDate: MintedWorld.moment.addingTimeInterval(60), webOrderLineItemID: 500_000_000_000_000_003,
            isTrialPeriod: true)
        subscription.cancellationDate = MintedWorld.moment.addingTimeInterval(30)
        subscription.promotionalOfferID = "spring"
        subscription.ownershipType = .familyShared
        subscription.productAdamID = 77
        var template = MintedWorld.receipt()
        template.purchases = [subscription]
        let purchase = try #require(try verified(template).inAppPurchases.first)
        #expect(purchase.productID == "com.example.app.monthly")
        #expect(purchase.transactionID == "700000000000002")
        #expect(purchase.originalTransactionID == "700000000000001")
        #expect(purchase.quantity == 1)
        #expect(purchase.productType == .autoRenewableSubscription)
        #expect(purchase.purchaseDate == AppStoreTime(MintedWorld.moment))
        #expect(purchase.originalPurchaseDate == AppStoreTime(MintedWorld.moment.addingTimeInterval(-60)))
        #expect(purchase.expiresDate == AppStoreTime(MintedWorld.moment.addingTimeInterval(60)))
        #expect(purchase.cancellationDate == AppStoreTime(MintedWorld.moment.addingTimeInterval(30)))
        #expect(purchase.webOrderLineItemID == "500000000000000003")
        #expect(purchase.productAppleID == 77)
        #expect(purchase.isTrialPeriod == true)
        #expect(purchase.isInIntroOfferPeriod == false)
        #expect(purchase.offerIdentifier == "spring")
        #expect(purchase.ownershipType == .familyShared)
    }

    @Test("A receipt of the Volume Purchase Program has an expiry date")
    func volumePurchase() throws {
        let expiration = MintedWorld.moment.addingTimeInterval(3600)
        let template = AppReceiptTemplate.volumePurchase(
            bundleID: "com.example.app", creationDate: MintedWorld.moment, expirationDate: expiration)
        let receipt = try verified(template)
        #expect(receipt.receiptType == "ProductionVPP")
        #expect(receipt.environment == .production)
        #expect(receipt.expirationDate == AppStoreTime(expiration))
        try ExpirationPolicy(at: AppStoreTime(expiration.addingTimeInterval(-1))).check(receipt)
    }

    @Test("Dates may have fractions of a second")
    func milliseconds() throws {
        let moment = Date(timeIntervalSince1970: 1_600_000_000.131)
        var template = AppReceiptTemplate.mac(bundleID: "com.example.app", creationDate: MintedWorld.moment)
        template.originalPurchaseDate = moment
        template.dateStyle = .milliseconds
        #expect(try verified(template).originalPurchaseDate?.millisecondsSince1970 == 1_600_000_000_131)
    }

    @Test("Attributes may be in any order", arguments: [AttributeOrder.der, .byType, .asGiven, .reversed])
    func order(_ order: AttributeOrder) throws {
        var template = MintedWorld.receipt()
        template.attributeOrder = order
        let receipt = try verified(template)
        #expect(receipt.bundleID == "com.example.app")
        #expect(receipt.inAppPurchases.count == 3)
    }

    @Test("Unknown attributes are kept unchanged, with their versions")
    func unknown() throws {
        var template = MintedWorld.receipt()
        template.extraAttributes = [
            RawAttribute(type: 4242, version: 7, value: [0xDE, 0xAD]), RawAttribute(type: 26, version: 3, value: []),
        ]
        template.purchases[0].extraAttributes = [RawAttribute(type: 1799, version: 9, value: [1, 2, 3])]
        let receipt = try verified(template)
        let unknown = receipt.attributes.filter { [4242, 26].contains($0.type) }.sorted { $0.type < $1.type }
        #expect(unknown.map(\.version) == [3, 7])
        #expect(unknown.map(\.value) == [[], [0xDE, 0xAD]])
        let inPurchases = receipt.inAppPurchases.flatMap(\.attributes).filter { $0.type == 1799 }
        #expect(inPurchases.map(\.version) == [9])
        #expect(inPurchases.map(\.value) == [[1, 2, 3]])
    }

    @Test("Hundreds of purchases are read, each as it was written")
    func manyPurchases() throws {
        var template = MintedWorld.receipt()
        template.purchases = (0..<500).map { number in
            .consumable(
                productID: "product.\(number)", transactionID: "\(900_000_000_000_000 + number)",
                purchaseDate: MintedWorld.moment.addingTimeInterval(Double(number)), quantity: UInt64(number % 10 + 1))
        }
        let receipt = try verified(template)
        #expect(receipt.inAppPurchases.count == 500)
        #expect(Set(receipt.inAppPurchases.map(\.productID)) == Set((0..<500).map { "product.\($0)" }))
        for purchase in receipt.inAppPurchases {
            let number = UInt64(purchase.productID.dropFirst("product.".count)) ?? 0
            #expect(purchase.quantity == number % 10 + 1)
            #expect(purchase.transactionID == "\(900_000_000_000_000 + number)")
        }
    }

    @Test("Non-ASCII text is preserved")
    func unicode() throws {
        var template = MintedWorld.receipt()
        template.purchases[0].productID = "münzen.コイン"
        #expect(try verified(template).inAppPurchases.contains { $0.productID == "münzen.コイン" })
    }

    @Test("Two receipts are equal if their signed attributes are")
    func equality() throws {
        var other = MintedWorld.receipt()
        other.purchases.removeLast()
        #expect(try verified(MintedWorld.receipt()) == verified(MintedWorld.receipt()))
        #expect(try verified(MintedWorld.receipt()) != verified(other))
    }
}
