import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// A claim that is accepted; each row changes one thing.
struct DecisionCase {
    var claim = PurchaseClaim(
        productID: "com.example.app.coins", transactionID: "2000000000000001", customerID: "alice")
    var receipt = MintedWorld.receipt()
    /// Other evidence than the receipt.
    var evidence: [UInt8]?
    var known: KnownFacts

    static let token = "11111111-2222-3333-4444-55555555abcd"

    init() {
        known = KnownFacts(app: LedgerWorld.app(), now: TestClock().now)
    }

    func decision() throws -> PurchaseDecision {
        let verified = try LedgerWorld.verifier().verify(
            try evidence ?? MintedWorld.mint(receipt), policies: [BundleIDPolicy("com.example.app")])
        let purchases = try #require(try ProvenPurchase.purchases(of: verified))
        return PurchaseDecision.decide(claim, .verified(purchases), known)
    }

    mutating func claim(_ product: String, _ transaction: String) {
        claim.productID = product
        claim.transactionID = transaction
    }

    /// A pass that the customer has, of an original transaction, bought so many days after the moment.
    func held(_ original: String, begin days: Double) -> RecordedPurchase {
        RecordedPurchase(
            app: "example", environment: .sandbox, transactionID: "\(original).0", originalTransactionID: original,
            productID: "com.example.app.pass", productKind: .nonRenewing, quantity: 1, customerID: "alice",
            orderID: nil, kind: .bought, state: .active,
            purchasedAt: Timestamp(MintedWorld.moment.addingTimeInterval(days * 86_400)),
            duration: 30 * 86_400_000, recordedAt: known.now, submissionID: "s")
    }

    mutating func pass(quantity: UInt64 = 1) {
        var pass = PurchaseTemplate.nonRenewingSubscription(
            productID: "com.example.app.pass", transactionID: "5", purchaseDate: MintedWorld.moment)
        pass.quantity = quantity
        receipt.purchases = [pass]
        claim("com.example.app.pass", "5")
    }

    mutating func order(_ status: OrderStatus = .created, of customer: String = "alice") {
        claim.orderID = "order"
        claim.customerID = nil
        known.order = Order(
            id: "order", app: "example", customerID: customer, productID: claim.productID,
            quantity: claim.productID.hasSuffix("coins") ? 3 : 1,
            appAccountToken: DecisionCase.token, recordedStatus: status, createdAt: known.now,
            expiresAt: Timestamp(millisecondsSince1970: known.now.millisecondsSince1970 + 1))
    }

    func recorded(
        by customer: String = "alice", order: String? = nil, _ transaction: String = "2000000000000001",
        state: PurchaseState = .active
    ) -> RecordedPurchase {
        RecordedPurchase(
            app: "example", environment: .sandbox, transactionID: transaction, originalTransactionID: transaction,
            productID: claim.productID, productKind: .consumable, quantity: 3, customerID: customer, orderID: order,
            kind: .bought, state: state, purchasedAt: known.now, recordedAt: known.now, submissionID: "s")
    }
}
