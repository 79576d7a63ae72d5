import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
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

@Suite("The rules of a claim")
struct ClaimRulesTests {
    /// The cells of the rows of a table, without backquotes.
    private static func rows(of section: String, in path: String) throws -> [[String]] {
        let text = try String(contentsOf: Corpus.projectFolder.appendingPathComponent(path), encoding: .utf8)
        let part = try #require(text.components(separatedBy: "\n## ").first { $0.hasPrefix(section + "\n") })
        return part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
        }
    }

    @Test("33.1 docs/ledger.md lists the rules in their order, with the stage and the code of each")
    func documentedOrder() throws {
        let rows = try Self.rows(of: "The rules of a claim", in: "docs/ledger.md")
        let listed = rows.map { "\($0[0]) \($0[1])" }
        let rules = ClaimRules.codes.map { "\($0.stage.rawValue) \($0.code?.rawValue ?? "a code of the core")" }
        #expect(!rules.isEmpty)
        #expect(listed == rules)
    }

    @Test("33.1 Every code of a claim is that of a rule, of the request, or of the App Store's answer")
    func everyCodeHasARule() throws {
        let documented = try Self.rows(of: "Claims", in: "docs/codes.md").map { $0[0] }
        let request: [DecisionCode] = [.bodyMalformed, .bodyTooLarge, .fieldMissing, .fieldMalformed]
        let answer: [DecisionCode] = [
            .appStorePending, .appStoreUnanswered, .appStoreRefused, .appStoreContradicts, .appStoreSecretMismatch,
        ]
        let others = request + answer + [.accepted]
        let rules = Set(ClaimRules.codes.compactMap(\.code))
        #expect(rules.isDisjoint(with: others))
        #expect(Set(documented) == Set((rules.union(others)).map(\.rawValue)))
    }
}
