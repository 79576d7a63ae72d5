import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// The rows of the decision.
extension DecisionTests {
    static let accepted = [
        row("a purchase of the customer", .accepted) { _ in },
        row("a purchase with the right quantity", .accepted) { $0.claim.quantity = 3 },
        row("a purchase that pays an order", .accepted) { $0.order() },
        row("an order of the customer who is named", .accepted) {
            $0.order()
            $0.claim.customerID = "alice"
        },
        row("the period of a subscription that is claimed", .accepted) { $0.claim(monthly, "2000000000000004") },
        row("a renewal of one's own subscription", .accepted) {
            $0.claim(monthly, "2000000000000004")
            $0.known.originalOwner = "alice"
        },
        row("a restored product of one's own", .accepted) {
            $0.claim(pro, "2000000000000002")
            $0.known.originalOwner = "alice"
            $0.known.copies = [$0.recorded("2000000000000000")]
        },
        row("a restored product of another, where the app moves it", .accepted) {
            $0.claim(pro, "2000000000000002")
            $0.known.originalOwner = "bob"
            $0.known.app.transfer = .move
        },
        row("a product of an app that registers none", .accepted) { $0.known.app.products = [:] },
        row("a pass", .accepted) { $0.pass() },
        row("a pass that begins when the one before it ends", .accepted) {
            $0.pass()
            $0.known.held = [$0.held("1", begin: -1)]
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(58 * 86_400))
        },
        row("a pass that stands before one that is known already, and puts it off", .accepted) {
            $0.pass()
            $0.known.held = [$0.held("1", begin: 2)]
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(31 * 86_400))
        },
        row("a pass behind one that was taken back before it began to count", .accepted) {
            $0.pass()
            var refunded = $0.held("1", begin: -1)
            refunded.duration = 300 * 86_400_000
            refunded.state = .withdrawn
            refunded.withdrawnAt = Timestamp(MintedWorld.moment.addingTimeInterval(40 * 86_400))
            $0.known.held = [refunded]
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(69 * 86_400))
        },
        row("three passes at once", .accepted) {
            $0.pass(quantity: 3)
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(89 * 86_400))
        },
        row("a signed transaction", .accepted) { $0.evidence = try LedgerWorld.signed() },
        row("a renewal of what moved, which carries the DecisionCase.token of its former owner", .accepted) {
            $0.claim(monthly, "2000000000000004")
            $0.order(of: "bob")
            $0.known.tokenOrder = $0.known.order
            $0.known.originalOwner = "alice"
            $0.claim.orderID = nil
            $0.claim.customerID = "alice"
            $0.evidence = try LedgerWorld.signed(2) { $0.appAccountToken = DecisionCase.token }
        },
        row("a signed transaction with the DecisionCase.token of the order", .accepted) {
            $0.order()
            $0.evidence = try LedgerWorld.signed { $0.appAccountToken = DecisionCase.token.uppercased() }
        },
    ]

    static let aboutEvidence = [
        Row(testDescription: "evidence that proves no purchase", code: .evidenceNotAPurchase) {
            PurchaseDecision.decide($0.claim, .unsuitable(.signedRenewalInfo), $0.known)
        },
        row("a receipt without purchases", .noPurchases) { $0.receipt.purchases = [] },
        row("a transaction that the receipt lacks", .transactionNotFound) { $0.claim.transactionID = "9" },
        row("the original transaction in place of the period", .transactionNotFound) {
            $0.claim(monthly, "2000000000000003")
        },
        row("another product", .productMismatch) { $0.claim.productID = pro },
        row("a product that is not registered", .productUnknown) {
            $0.known.app.products = [pro: RegisteredProduct(kind: .nonConsumable)]
        },
        row("a pass whose duration nobody knows", .productUnknown) {
            $0.pass()
            $0.known.app.products = [:]
        },
        row("another quantity", .quantityMismatch) { $0.claim.quantity = 4 },
        row("a quantity that nobody sells", .quantityMismatch) { $0.receipt.purchases[0].quantity = 1_000_000_001 },
        row("a cancelled purchase", .purchaseCancelled) {
            $0.receipt.purchases[0].cancellationDate = MintedWorld.moment
        },
        row("a purchase that stands twice, once cancelled", .purchaseCancelled) {
            var cancelled = $0.receipt.purchases[0]
            cancelled.cancellationDate = MintedWorld.moment
            $0.receipt.purchases.append(cancelled)
        },
        row("a revoked transaction", .purchaseRevoked) {
            $0.evidence = try LedgerWorld.signed { $0.revocationDate = MintedWorld.moment }
        },
        row("a subscription that was upgraded", .purchaseUpgraded) {
            $0.claim(monthly, "2000000000000004")
            $0.evidence = try LedgerWorld.signed(2) { $0.isUpgraded = true }
        },
        row("a purchase that was withdrawn before", .purchaseWithdrawn) {
            $0.known.recorded = $0.recorded(state: .withdrawn)
        },
        row("a purchase that was withdrawn before anybody claimed it", .purchaseWithdrawn) {
            $0.known.withdrawnAt = Timestamp(MintedWorld.moment)
        },
        row("a copy of what was withdrawn before", .purchaseWithdrawn) {
            $0.claim(pro, "2000000000000002")
            $0.known.originalOwner = "alice"
            $0.known.copies = [$0.recorded("2000000000000000", state: .withdrawn)]
        },
        row("a subscription whose period has ended", .subscriptionExpired) {
            $0.claim(monthly, "2000000000000004")
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(2_592_000))
        },
        row("a pass whose time has ended", .subscriptionExpired) {
            $0.pass()
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(30 * 86_400))
        },
        row("a pass whose time has ended, behind another that has ended", .subscriptionExpired) {
            $0.pass()
            $0.known.held = [$0.held("1", begin: -1)]
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(59 * 86_400))
        },
        row("a pass whose time had ended before the one that is held was bought", .subscriptionExpired) {
            $0.pass()
            $0.known.held = [$0.held("1", begin: 40)]
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(45 * 86_400))
        },
        row("a copy of a pass whose time has ended", .subscriptionExpired) {
            $0.pass()
            $0.known.originalOwner = "alice"
            $0.known.copies = [$0.recorded("4")]
            $0.known.held = [$0.held("5", begin: 0)]
            $0.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(31 * 86_400))
        },
        row("a subscription without an end", .subscriptionExpired) {
            $0.known.app.products["com.example.app.coins"] = RegisteredProduct(kind: .autoRenewable)
        },
    ]

    static let aboutOrders = [
        row("an order, and a product that a family shares", .purchaseNotPaid) {
            $0.claim(pro, "2000000000000002")
            $0.order()
            $0.evidence = try LedgerWorld.signed(1) { $0.inAppOwnershipType = "FAMILY_SHARED" }
        },
        row("a product that a family shares, without an order", .accepted) {
            $0.claim(pro, "2000000000000002")
            $0.evidence = try LedgerWorld.signed(1) { $0.inAppOwnershipType = "FAMILY_SHARED" }
        },
        row("an order, and a restored product of which nothing was known", .purchaseNotPaid) {
            $0.claim(pro, "2000000000000002")
            $0.order()
            $0.receipt.purchases[1].originalTransactionID = "2000000000000000"
        },
        row("an order, and a renewal of a subscription", .accepted) {
            $0.claim(monthly, "2000000000000004")
            $0.order()
        },
        row("an order that nobody made", .orderUnknown) { $0.claim.orderID = "order" },
        row("an order of another customer", .orderOfAnotherCustomer) {
            $0.order(of: "bob")
            $0.claim.customerID = "alice"
        },
        row("an order of a customer whose name Unicode calls the same", .orderOfAnotherCustomer) {
            $0.order(of: "jose\u{301}")
            $0.claim.customerID = "jos\u{E9}"
        },
        row("a DecisionCase.token that is not the order's", .appAccountTokenMismatch) {
            $0.order()
            $0.evidence = try LedgerWorld.signed { $0.appAccountToken = "22222222-2222-3333-4444-55555555abcd" }
        },
        row("the DecisionCase.token of an order of another customer", .appAccountTokenMismatch) {
            $0.order(of: "bob")
            $0.known.tokenOrder = $0.known.order
            $0.claim.orderID = nil
            $0.claim.customerID = "alice"
            $0.evidence = try LedgerWorld.signed { $0.appAccountToken = DecisionCase.token }
        },
        row("an order of another product", .productMismatch) {
            $0.order()
            $0.known.order?.productID = pro
        },
        row("an order of another quantity", .quantityMismatch) {
            $0.order()
            $0.known.order?.quantity = 1
        },
        row("an order that is paid", .orderAlreadyPaid) { $0.order(.paid) },
        row("an order that is fulfilled", .orderAlreadyPaid) { $0.order(.fulfilled) },
        row("an order that was not paid in time", .orderExpired) {
            $0.order()
            $0.known.now = $0.known.order?.expiresAt ?? $0.known.now
        },
        row("an order that was cancelled", .orderCancelled) { $0.order(.cancelled) },
        row("an order that was refunded", .orderRefunded) { $0.order(.refunded) },
    ]

    static let aboutOwners = [
        Row(testDescription: "a claim without customer and order", code: .fieldMissing) {
            var changed = $0
            changed.claim.customerID = nil
            return try changed.decision()
        },
        row("a transaction of another customer", .alreadyClaimed) { $0.known.recorded = $0.recorded(by: "bob") },
        row("a transaction of another customer, though the app moves purchases", .alreadyClaimed) {
            $0.known.recorded = $0.recorded(by: "bob")
            $0.known.app.transfer = .move
        },
        row("a transaction of a customer whose name Unicode calls the same", .alreadyClaimed) {
            $0.claim.customerID = "jos\u{E9}"
            $0.known.recorded = $0.recorded(by: "jose\u{301}")
        },
        row("a restored product of a customer whose name Unicode calls the same", .alreadyClaimed) {
            $0.claim(pro, "2000000000000002")
            $0.claim.customerID = "jos\u{E9}"
            $0.known.originalOwner = "jose\u{301}"
        },
        row("a transaction of another order", .alreadyClaimed) {
            $0.order()
            $0.known.recorded = $0.recorded(order: "another")
        },
        row("a transaction that was claimed without an order", .alreadyClaimed) {
            $0.order()
            $0.known.recorded = $0.recorded()
        },
        row("a restored product of another", .alreadyClaimed) {
            $0.claim(pro, "2000000000000002")
            $0.known.originalOwner = "bob"
        },
        row("a restored product for an order", .alreadyClaimed) {
            $0.claim(pro, "2000000000000002")
            $0.order()
            $0.known.originalOwner = "alice"
            $0.known.copies = [$0.recorded("2000000000000000")]
        },
        row("a second copy of a consumable", .alreadyClaimed) {
            $0.known.originalOwner = "alice"
            $0.known.copies = [$0.recorded("2000000000000000")]
        },
        row("a pass of another, though the app moves purchases", .alreadyClaimed) {
            $0.pass()
            $0.known.originalOwner = "bob"
            $0.known.app.transfer = .move
        },
        row("a consumable of another, though the app moves purchases", .alreadyClaimed) {
            $0.known.originalOwner = "bob"
            $0.known.app.transfer = .move
        },
    ]
}
