import OtherLibrary
import PurchaseKit
import PurchaseKitSimulator
import PurchaseMessages
import PurchaseVerification
import StoreKit
import StoreKitAdapters
import Testing

/// A file as an app has it. It compiles only if the modules of the kit share no name with StoreKit or with another
/// library.
@Suite("Names in an app")
struct NameTests {
    @Test(
        "3 A file that imports StoreKit and the kit uses StoreKit's names, and those of other libraries, without a prefix"
    )
    func unambiguous() {
        let names: [Any.Type] = [
            AppTransaction.self, Product.self, Product.SubscriptionOffer.self, Transaction.self, PurchaseIntent.self,
            Verified.self, Unverified.self, Evidence.self, Timestamp.self, SubscriptionStatus.self, OfferType.self,
            TransactionKey.self, ProductKind.self, SystemTime.self, PaymentRequest.self,
        ]
        #expect(Set(names.map { "\($0)" }).count == names.count)
    }

    @Test("3 The names that took their place are the kit's alone")
    func ofTheKit() {
        let names: [Any.Type] = [
            SignedAppTransaction.self, VerifiedContent.self, RecognizedEvidence.self, AppStoreTime.self,
            AppStoreSubscriptionStatus.self, AppStoreOfferType.self, PurchaseKey.self, PurchaseProductKind.self,
            SystemPurchaseTime.self, PurchasePayment.self,
        ]
        #expect(names.count == 10)
    }
}
