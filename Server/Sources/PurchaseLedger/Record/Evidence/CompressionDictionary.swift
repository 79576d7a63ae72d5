/// Strings that occur often in the formats of evidence; deflate refers to them instead of repeating them.
///
/// A dictionary never changes, because evidence that was stored with it needs it. An improved one gets the next number.
/// Each consists only of constants of a format, so it favours no app. Deflate spends fewer bits on matches near the
/// end, so the most common text is there.
package enum CompressionDictionary: UInt8, CaseIterable {
    /// Claims of signed payloads, November 2026.
    case claims1 = 1
    /// App receipts in DER, November 2026.
    case receipt1 = 2
    /// Property lists of transaction receipts, November 2026.
    case propertyList1 = 3

    package var bytes: [UInt8] {
        switch self {
        case .claims1: Self.claimsBytes
        case .receipt1: Self.receiptBytes
        case .propertyList1: Self.propertyListBytes
        }
    }

    private static let claimsBytes = Array(claims1Text.utf8) + Shapes.payload
    private static let receiptBytes = Shapes.receipt + ReceiptLayout().bytes

    private static let propertyListBytes = Array(propertyList.utf8)

    private static let claims1Text =
        offers + revocations + appTransaction + notificationTypes + notification + renewalInfo
        + transaction

    private static let propertyList = """
        {
        \t"signature" = "";
        \t"purchase-info" = "";
        \t"environment" = "Sandbox";
        \t"pod" = "100";
        \t"signing-status" = "0";
        }{
        \t"original-purchase-date-pst" = "America/Los_Angeles";
        \t"unique-identifier" = "";
        \t"original-transaction-id" = "";
        \t"expires-date" = "";
        \t"app-item-id" = "";
        \t"transaction-id" = "";
        \t"quantity" = "1";
        \t"in-app-ownership-type" = "PURCHASED";
        \t"original-purchase-date-ms" = "";
        \t"unique-vendor-identifier" = "";
        \t"web-order-line-item-id" = "";
        \t"item-id" = "";
        \t"version-external-identifier" = "";
        \t"is-in-intro-offer-period" = "false";
        \t"is-trial-period" = "false";
        \t"purchase-date-ms" = "";
        \t"expires-date-formatted" = "";
        \t"product-id" = "com.";
        \t"bvrs" = "1";
        \t"bid" = "com.";
        \t"purchase-date" = "20 Etc/GMT";
        \t"purchase-date-pst" = "20 America/Los_Angeles";
        \t"original-purchase-date" = "20 Etc/GMT";
        }
        """

    private static let offers = """
        ","offerType":1,"offerType":2,"offerIdentifier":"","offerDiscountType":"FREE_TRIAL",\
        "offerDiscountType":"PAY_AS_YOU_GO","offerDiscountType":"PAY_UP_FRONT","offerPeriod":"P1W","isUpgraded":true,\
        "inAppOwnershipType":"FAMILY_SHARED",
        """

    private static let revocations = """
        "revocationReason":0,"revocationReason":1,"revocationDate":,"revocationPercentage":,\
        "revocationType":"REFUND_FULL","
        """

    private static let appTransaction = """
        "applicationVersion":"","originalApplicationVersion":"","receiptType":"","receiptCreationDate":,\
        "requestDate":,"appAppleId":,"appTransactionId":"","originalPlatform":"iOS","versionExternalIdentifier":,\
        "preorderDate":,
        """

    private static let notificationTypes = """
        {"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","RESUBSCRIBE","DID_RENEW","BILLING_RECOVERY",\
        "DID_CHANGE_RENEWAL_STATUS","AUTO_RENEW_ENABLED","AUTO_RENEW_DISABLED","DID_CHANGE_RENEWAL_PREF","UPGRADE",\
        "DOWNGRADE","DID_FAIL_TO_RENEW","GRACE_PERIOD","GRACE_PERIOD_EXPIRED","EXPIRED","VOLUNTARY","BILLING_RETRY",\
        "PRICE_INCREASE","PENDING","ACCEPTED","REFUND","REFUND_DECLINED","REFUND_REVERSED","CONSUMPTION_REQUEST",\
        "consumptionRequestReason":"UNINTENDED_PURCHASE","OFFER_REDEEMED","RENEWAL_EXTENDED","REVOKE","TEST",\
        "ONE_TIME_CHARGE",
        """

    private static let notification = """
        "notificationUUID":"","data":{"appAppleId":,"bundleId":"","bundleVersion":"","environment":"Sandbox",\
        "signedTransactionInfo":"","signedRenewalInfo":"","status":1},"version":"2.0","signedDate":}
        """

    private static let renewalInfo = """
        {"expirationIntent":1,"originalTransactionId":"","autoRenewProductId":"","productId":"","autoRenewStatus":1,\
        "isInBillingRetryPeriod":false,"gracePeriodExpiresDate":,"priceIncreaseStatus":0,"renewalPrice":,\
        "currency":"USD","signedDate":,"environment":"Production","recentSubscriptionStartDate":,"renewalDate":,\
        "eligibleWinBackOfferIds":["
        """

    private static let transaction = """
        {"transactionId":"2000000","originalTransactionId":"2000000","webOrderLineItemId":"2000000",\
        "bundleId":"com.","productId":"com.","subscriptionGroupIdentifier":"","purchaseDate":17,\
        "originalPurchaseDate":17,"expiresDate":17,"quantity":1,"type":"Non-Renewing Subscription",\
        "type":"Auto-Renewable Subscription","type":"Non-Consumable","type":"Consumable","deviceVerification":"",\
        "deviceVerificationNonce":"","appAccountToken":"","inAppOwnershipType":"PURCHASED","signedDate":17,\
        "environment":"Sandbox","environment":"Production","transactionReason":"RENEWAL",\
        "transactionReason":"PURCHASE","storefront":"USA","storefrontId":"143441","price":990,"currency":"USD",\
        "appTransactionId":"70
        """

    /// The most common shapes of evidence (`SplitEvidence`).
    private enum Shapes {
        static let payload: [UInt8] = [3, 0, 1, 1, 4, 1, 1, 0, 1, 1, 4, 1, 2, 64, 0]
        static let receipt: [UInt8] = [4, 2, 1, 0, 3, 0, 2, 128, 2, 0]
    }
}

/// A receipt without its values: the tags, types and lengths that Apple writes, ordered by length.
private struct ReceiptLayout {
    private(set) var bytes: [UInt8] = []

    init() {
        container()
        receipt()
        purchase()
    }

    /// ContentInfo and SignedData with SHA-256 and SHA-1, up to the set of attributes.
    private mutating func container() {
        let signedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
        let data: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        bytes += [0x30, 0x82, 0x14, 0x00] + signedData + [0xA0, 0x82, 0x14, 0x00, 0x30, 0x82, 0x14, 0x00, 2, 1, 1]
        bytes += [0x31, 0x0F, 0x30, 0x0D, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 0x30, 0x82, 3, 0]
        bytes += [0x30, 0x82, 0x13, 0x00] + signedData + [0xA0, 0x82, 0x13, 0x00, 0x30, 0x82, 0x13, 0x00, 2, 1, 1]
        bytes += [0x31, 0x0B, 0x30, 0x09, 6, 5, 0x2B, 0x0E, 3, 2, 0x1A, 5, 0, 0x30, 0x82, 3, 0] + data
        bytes += [0xA0, 0x82, 3, 0, 4, 0x82, 3, 0, 0x31, 0x82, 3, 0]
    }

    private mutating func receipt() {
        attribute(8, ia5: "")
        attribute(18, ia5: "")
        attribute(19, utf8: "")
        attribute(20, utf8: "")
        for type in [1, 11] { attribute(type, [2, 1, 0]) }
        attribute(14, [2, 1, 90])
        for type in [15, 16] { attribute(type, [2, 1, 0]) }
        attribute(25, [2, 1, 3])
        for rating in ["4+", "12+", "17+"] { attribute(10, ia5: rating) }
        attribute(13, [2, 3, 2, 0, 0])
        attribute(9, [2, 4, 0x50, 0x32])
        attribute(3, utf8: "1")
        attribute(19, utf8: "1.0")
        head(4, 16)
        attribute(0, utf8: "ProductionSandbox")
        attribute(0, utf8: "Production")
        head(5, 20)
        head(2, 22)
        bytes += [0x0C, 20] + Array("com.".utf8)
        attribute(18, ia5: "2013-08-01T07:00:00Z")
        date(8, "202")
        attribute(12, ia5: "2020-01-01T00:00:00Z")
        head(7, 70)
        head(6, 80)
    }

    private mutating func purchase() {
        bytes += [0x30, 0x82, 1, 0x80, 2, 1, 17, 2, 1, 1, 4, 0x82, 1, 0x78, 0x31, 0x82, 1, 0x74]
        attribute(1712, ia5: "")
        for type in [1709, 1714, 1715, 1716, 1717, 1718] { attribute(type, utf8: "") }
        attribute(1701, [2, 1, 1])
        for kind: UInt8 in [1, 2, 3] { attribute(1707, [2, 1, kind]) }
        for type in [1710, 1711, 1713, 1719] { attribute(type, [2, 1, 0]) }
        head(1711, 9)
        bytes += [2, 7, 3, 0x8D, 0x7E, 0xA4]
        for type in [1703, 1705] {
            head(type, 17)
            bytes += [0x0C, 15] + Array("4".utf8)
        }
        for type in [1703, 1705] {
            head(type, 18)
            bytes += [0x0C, 16] + Array("1000000".utf8)
        }
        for type in [1703, 1705] {
            head(type, 18)
            bytes += [0x0C, 16] + Array("2000000".utf8)
        }
        for type in [1704, 1706, 1708] { date(type, "202") }
        date(1712, "T00:00:00Z")
        head(1702, 27)
        bytes += [0x0C, 25] + Array("com.".utf8)
    }

    private mutating func attribute(_ type: Int, ia5 text: String) {
        attribute(type, [0x16, UInt8(text.utf8.count)] + Array(text.utf8))
    }

    private mutating func attribute(_ type: Int, utf8 text: String) {
        attribute(type, [0x0C, UInt8(text.utf8.count)] + Array(text.utf8))
    }

    private mutating func attribute(_ type: Int, _ value: [UInt8]) {
        head(type, UInt8(value.count))
        bytes += value
    }

    private mutating func date(_ type: Int, _ start: String) {
        head(type, 22)
        bytes += [0x16, 20] + Array(start.utf8)
    }

    /// SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }, without the value.
    private mutating func head(_ type: Int, _ count: UInt8) {
        let number: [UInt8] =
            type < 128 ? [2, 1, UInt8(type)] : [2, 2, UInt8(type >> 8), UInt8(truncatingIfNeeded: type)]
        bytes += [0x30, UInt8(number.count) + 5 + count] + number + [2, 1, 1, 4, count]
    }
}
