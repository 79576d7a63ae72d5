import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("The decision about a claim")
struct ClaimStepTests {
    /// A claim of 100 coins by customer 1 for an order. Each defect changes one thing.
    private struct Story {
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        var claim = ClaimFields()
        var proven = Story.facts()
        var isErased = false
        var owner: Int64? = 1
        var tokenOwner: Int64?
        var isOfErasedCustomer = false
        var purchase = ClaimedPurchase(Story.facts(), kind: .consumable, withdrawal: nil)
        var order = OrderTerms(
            "coins", quantity: 1, environments: [.production], from: .day(0), to: .day(2), status: .created)

        init() {
            app.products["coins"] = RegisteredProduct(kind: .consumable)
            (claim.productID, claim.quantity) = ("coins", 1)
        }

        static func facts(_ change: (inout TransactionStatement) -> Void = { _ in }) -> ObservedTransaction {
            var statement = TransactionStatement.signed("1", "coins", .consumable, on: 1)
            change(&statement)
            return ObservedTransaction(statement)
        }

        mutating func withdraw(_ cause: Withdrawal.Cause, _ proven: ObservedTransaction) {
            purchase.withdrawal = Withdrawal(date: .day(3), cause: cause, units: 1)
            self.proven = proven
        }

        private var step: ClaimStep {
            var statement = ClaimStatement(claim, of: proven, .signedData, by: 1, app)
            statement.isErased = isErased
            return ClaimStep(statement, order: .ofClaim)
        }

        private var known: ClaimSituation {
            var situation = ClaimSituation()
            var owned = ClaimedOwner(owner, of: proven, claimedBy: 1, app)
            (owned.tokenOwner, owned.isOfErasedCustomer) = (tokenOwner, isOfErasedCustomer)
            (situation.owner, situation.purchase, situation.order) = (owned, purchase, order)
            return situation
        }

        /// The verdict, and what the step asked for.
        func decided() throws -> (verdict: ClaimVerdict, needs: [ClaimStep.Need]) {
            var (situation, needs) = (ClaimSituation(), [ClaimStep.Need]())
            for _ in 0...3 {
                switch step.decide(situation, at: .day(4)) {
                case .decided(let verdict): return (verdict, needs)
                case .needs(let need):
                    needs.append(need)
                    switch need {
                    case .owner: situation.owner = known.owner
                    case .purchase: situation.purchase = known.purchase
                    case .order: situation.order = known.order
                    }
                }
            }
            throw Endless()
        }

        struct Endless: Error {}
    }

    private struct Defect: Sendable {
        let code: DecisionCode
        let change: @Sendable (inout Story) -> Void

        init(_ code: DecisionCode, _ change: @escaping @Sendable (inout Story) -> Void) {
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
        Defect(.purchaseWithdrawn) { $0.withdraw(.revoked, Story.facts()) },
        Defect(.purchaseRevoked) { story in
            let revoked = Story.facts { $0.revocation = Revocation(date: .day(3), percentage: nil) }
            story.withdraw(.revoked, revoked)
        },
        Defect(.purchaseCancelled) { story in
            // Only receipts state cancellations.
            let receipt = Story.facts { ($0.source, $0.cancellation) = (.appReceipt, .day(3)) }
            story.withdraw(.cancelled, receipt)
        },
        Defect(.purchaseWithdrawn) { $0.purchase.isRevokedByHand = true },
        Defect(.alreadyClaimed) { $0.purchase.isCopy = true },
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
            story.purchase.facts = Story.facts { $0.ownershipType = "FAMILY_SHARED" }
        },
        Defect(.purchaseOutsideOrder) { $0.order.expiresAt = .day(0.5) },
    ]

    @Test("33.1 Of every two rules that object, the earlier one gives the code")
    func everyPair() throws {
        for (place, first) in Self.defects.enumerated() {
            for second in Self.defects[place...] {
                var story = Story()
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
        // The copy of a consumable is refused by the stage before the order.
        var rules = ClaimRules.codes.filter { [.statement, .owner, .purchase, .order].contains($0.stage) }
            .compactMap(\.code)
        let copy = rules.lastIndex(of: .alreadyClaimed)
        if let copy { rules.remove(at: copy) }
        #expect(rules == Self.defects.map(\.code))
    }

    @Test("33.1 A claim without a defect pays its order, and asks for nothing twice")
    func accepted() throws {
        let (verdict, needs) = try Story().decided()
        #expect(verdict == ClaimVerdict(hasPurchase: true, pays: true))
        #expect(needs == [.owner, .purchase, .order])
    }
}
