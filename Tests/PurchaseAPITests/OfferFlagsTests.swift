import PurchaseAPI
import Testing

@Suite("The flags of an offer")
struct OfferFlagsTests {
    @Test(
        "F.2 A free period of any offer is a trial, and since late 2024 also counts as introductory",
        arguments: [
            // 2024-03-02: the last recorded answer of the old form. 2024-11-01: the first of the new one.
            (true, true, 1_709_337_600_000 as Int64, true, false), (true, true, 1_730_419_200_000, true, true),
            (false, true, 1_709_337_600_000, true, false), (false, true, 1_730_419_200_000, true, true),
            (true, false, 1_709_337_600_000, false, true), (true, false, 1_730_419_200_000, false, true),
            (false, false, 1_709_337_600_000, false, false), (false, false, 1_730_419_200_000, false, false),
        ])
    func flags(isIntroductory: Bool, isFree: Bool, date: Int64, trial: Bool, introductory: Bool) {
        let flags = OfferFlags(isIntroductory: isIntroductory, isFree: isFree, purchaseDate: date)
        #expect(flags.isTrialPeriod == trial && flags.isInIntroOfferPeriod == introductory)
    }

    @Test("F.2 promotional_offer_id comes before in_app_ownership_type, and both after the flags")
    func order() {
        var purchase = VerifyReceiptResponse.InAppPurchase(productID: "p", transactionID: "1")
        purchase.inAppOwnershipType = "PURCHASED"
        purchase.promotionalOfferID = "spring"
        purchase.isTrialPeriod = true
        purchase.isInIntroOfferPeriod = false
        purchase.subscriptionGroupIdentifier = "7"
        var json = JSONWriter()
        purchase.write(to: &json)
        #expect(
            String(decoding: json.bytes, as: UTF8.self).hasSuffix(
                #""is_trial_period":"true","is_in_intro_offer_period":"false","promotional_offer_id":"spring","#
                    + #""in_app_ownership_type":"PURCHASED","subscription_group_identifier":"7"}"#))
    }
}
