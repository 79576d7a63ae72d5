import EvidenceMint
import Foundation
import TestSupport
import Testing

@Suite(
    "Signed data filled with the values of genuine data",
    .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absence)))
struct SignedPayloadCorpusTests {
    @Test("has the same payload, byte for byte: transactions")
    func transactions() throws {
        try compare("jws-transaction") { claims in
            var template = SignedTransactionTemplate()
            template.transactionID = claims.text("transactionId")
            template.originalTransactionID = claims.text("originalTransactionId")
            template.webOrderLineItemID = claims.text("webOrderLineItemId")
            template.bundleID = claims.text("bundleId")
            template.productID = claims.text("productId")
            template.subscriptionGroupIdentifier = claims.text("subscriptionGroupIdentifier")
            template.purchaseDate = claims.date("purchaseDate")
            template.originalPurchaseDate = claims.date("originalPurchaseDate")
            template.expiresDate = claims.date("expiresDate")
            template.quantity = claims.number("quantity")
            template.type = claims.text("type").map(SignedTransactionTemplate.ProductType.init(rawValue:))
            template.appAccountToken = claims.text("appAccountToken")
            template.inAppOwnershipType = claims.text("inAppOwnershipType")
            template.signedDate = claims.date("signedDate")
            template.revocationReason = claims.number("revocationReason")
            template.revocationDate = claims.date("revocationDate")
            template.offerType = claims.number("offerType")
            template.environment = claims.text("environment")
            template.transactionReason = claims.text("transactionReason")
            template.storefront = claims.text("storefront")
            template.storefrontID = claims.text("storefrontId")
            template.price = claims.number("price")
            template.currency = claims.text("currency")
            return template
        }
    }

    @Test("has the same payload, byte for byte: renewal information")
    func renewalInfo() throws {
        try compare("jws-renewalInfo") { claims in
            var template = RenewalInfoTemplate()
            template.expirationIntent = claims.number("expirationIntent")
            template.originalTransactionID = claims.text("originalTransactionId")
            template.autoRenewProductID = claims.text("autoRenewProductId")
            template.productID = claims.text("productId")
            template.autoRenewStatus = claims.number("autoRenewStatus")
            template.isInBillingRetryPeriod = claims["isInBillingRetryPeriod"] as? Bool
            template.signedDate = claims.date("signedDate")
            template.environment = claims.text("environment")
            template.recentSubscriptionStartDate = claims.date("recentSubscriptionStartDate")
            template.renewalDate = claims.date("renewalDate")
            return template
        }
    }

    @Test("has the same payload, byte for byte: app transactions")
    func appTransactions() throws {
        try compare("jws-appTransaction") { claims in
            var template = AppTransactionTemplate()
            template.receiptType = claims.text("receiptType")
            template.appAppleID = claims.number("appAppleId")
            template.bundleID = claims.text("bundleId")
            template.applicationVersion = claims.text("applicationVersion")
            template.versionExternalIdentifier = claims.number("versionExternalIdentifier")
            template.receiptCreationDate = claims.date("receiptCreationDate")
            template.requestDate = claims.date("requestDate")
            template.originalPurchaseDate = claims.date("originalPurchaseDate")
            template.originalApplicationVersion = claims.text("originalApplicationVersion")
            template.deviceVerification = claims.text("deviceVerificationNonce").flatMap(UUID.init).map {
                DeviceVerification(nonce: $0, value: claims.text("deviceVerification") ?? "")
            }
            template.appTransactionID = claims.text("appTransactionId")
            template.originalPlatform = claims.text("originalPlatform")
            return template
        }
    }

    private func compare(
        _ kind: String, _ fill: ([String: Any]) -> any SignedPayloadTemplate
    ) throws {
        let items = try Corpus.items(kind)
        #expect(!items.isEmpty)
        for item in items {
            let file = String(decoding: try item.bytes(), as: UTF8.self)
            let genuine = try CompactText(file.trimmingCharacters(in: .whitespacesAndNewlines))
            let payload = fill(try genuine.claims()).payload { _ in "" }
            #expect(String(decoding: payload, as: UTF8.self) == genuine.payloadText, "\(item.file)")
        }
    }
}

extension [String: Any] {
    fileprivate func text(_ name: String) -> String? {
        self[name] as? String
    }

    fileprivate func number(_ name: String) -> Int64? {
        (self[name] as? NSNumber)?.int64Value
    }

    fileprivate func date(_ name: String) -> Date? {
        (self[name] as? NSNumber).map { Date(timeIntervalSince1970: $0.doubleValue / 1000) }
    }
}
