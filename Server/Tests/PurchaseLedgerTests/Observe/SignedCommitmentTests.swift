import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("Commitments in signed data")
struct SignedCommitmentTests {
    @Test("33.3 A commitment renews or not by the numbers that Apple documents, and nothing is said for another")
    func renews() {
        let renews = [0, 1, 2].map { number -> Bool? in
            var info = RenewalInfo()
            info.otherClaims = Array(
                #"{"commitmentInfo":{"billingPeriodNumber":3,"commitmentAutoRenewStatus":\#(number)}}"#.utf8)
            return info.commitment?.renews
        }
        #expect(renews == [false, true, nil])
    }
}
