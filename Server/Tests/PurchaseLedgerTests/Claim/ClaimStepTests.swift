import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("The decision about a claim")
struct ClaimStepTests {
    private struct Defect: Sendable {
        let code: DecisionCode
        let change: @Sendable (inout ClaimStory) -> Void

        init(_ code: DecisionCode, _ change: @escaping @Sendable (inout ClaimStory) -> Void) {
            (self.code, self.change) = (code, change)
        }
    }

    /// The defects that the rules find, in the order of the rules.
    private static let defects = ofStatement + ofOwner + ofPurchase + ofOrder

    private static let ofStatement: [Defect] = [
        Defect(.purchaseErased) { $0.isErased = true },
        Defect(.productMismatch) { $0.claim.productID = "gems" },
        Defect(.quantityMismatch) { $0.claim.quantity = 2 },
    ]

    private static let ofOwner: [Defect] = [
        Defect(.purchaseErased) { $0.isOfErasedCustomer = true },
        Defect(.signedTransactionNeeded) { story in
            story.owner = nil
            story.app.requiresSignedTransaction = true
        },
        Defect(.accountTokenNeeded) { $0.owner = nil },
        Defect(.appAccountTokenMismatch) { story in
            story.owner = 2
            story.tokenOwner = 2
        },
        Defect(.alreadyClaimed) { $0.owner = 2 },
    ]

    private static let ofPurchase: [Defect] = [
        Defect(.productKindMismatch) { story in
            story.app.products["coins"] = RegisteredProduct(kind: .nonConsumable)
            story.purchase.kind = nil
        },
        Defect(.productUnknown) { $0.purchase.kind = nil },
        Defect(.purchaseWithdrawn) { $0.withdraw(.revoked, ClaimStory.facts()) },
        Defect(.purchaseRevoked) { story in
            let revoked = ClaimStory.facts { $0.revocation = Revocation(date: .day(3), percentage: nil) }
            story.withdraw(.revoked, revoked)
        },
        Defect(.purchaseCancelled) { story in
            // Only receipts state cancellations.
            let receipt = ClaimStory.facts { ($0.source, $0.cancellation) = (.appReceipt, .day(3)) }
            story.withdraw(.cancelled, receipt)
        },
        Defect(.purchaseWithdrawn) { $0.purchase.isRevokedByHand = true },
    ]

    private static let ofOrder: [Defect] = [
        Defect(.productMismatch) { $0.order.productID = "gems" },
        Defect(.quantityMismatch) { $0.order.quantity = 2 },
        Defect(.orderEnvironmentMismatch) { $0.order.environments = [.sandbox] },
        Defect(.orderAlreadyPaid) { $0.order.status = .paid },
        Defect(.orderCancelled) { $0.order.status = .cancelled },
        Defect(.orderRefunded) { $0.order.status = .refunded },
        Defect(.alreadyClaimed) { $0.purchase.hasPaidAnotherOrder = true },
        Defect(.purchaseNotPaid) { story in
            story.purchase.facts = ClaimStory.facts { $0.ownershipType = "FAMILY_SHARED" }
        },
        Defect(.purchaseOutsideOrder) { $0.order.expiresAt = .day(0.5) },
    ]

    @Test("33.1 Of every two rules that object, the earlier one gives the code")
    func everyPair() throws {
        for (place, first) in Self.defects.enumerated() {
            for second in Self.defects[place...] {
                var story = ClaimStory()
                second.change(&story)
                first.change(&story)
                let verdict = try story.decided().verdict
                #expect(verdict.refusal?.code == first.code.rawValue, "\(first.code) before \(second.code)")
                #expect(!verdict.pays)
            }
        }
    }

    @Test("33.1 The defects are those of the rules from the statement to the order, in their order")
    func everyRule() {
        let rules = ClaimRules.codes.filter { [.statement, .owner, .purchase, .order].contains($0.stage) }
            .compactMap(\.code)
        #expect(rules == Self.defects.map(\.code))
    }

    @Test("33.1 A claim without a defect pays its order, and asks for nothing twice")
    func accepted() throws {
        let (verdict, needs) = try ClaimStory().decided()
        #expect(verdict == ClaimVerdict(hasPurchase: true, pays: true))
        #expect(needs == [.owner, .purchase, .order])
    }
}
