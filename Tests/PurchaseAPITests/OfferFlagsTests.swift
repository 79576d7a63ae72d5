import PurchaseAPI
import Testing

@Suite("The flags of an offer")
struct OfferFlagsTests {
    @Test("F.2 A free period of any offer is a trial, and since late 2024 also counts as introductory")
    func flags() {
        // The last recorded answer of the old form is of 2024-03-02, the first of the new one of November 2024.
        let (old, new): (Int64, Int64) = (1_709_337_600_000, 1_730_419_200_000)
        let cases: [(isIntroductory: Bool, isFree: Bool, date: Int64, trial: Bool, introductory: Bool)] = [
            (true, true, old, true, false), (true, true, new, true, true),
            (false, true, old, true, false), (false, true, new, true, true),
            (true, false, old, false, true), (true, false, new, false, true),
            (false, false, old, false, false), (false, false, new, false, false),
        ]
        for example in cases {
            let flags = OfferFlags(
                isIntroductory: example.isIntroductory, isFree: example.isFree, purchaseDate: example.date)
            #expect(flags.isTrialPeriod == example.trial && flags.isInIntroOfferPeriod == example.introductory)
        }
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
