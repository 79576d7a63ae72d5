import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Codes of decisions")
struct DecisionCodeTests {
    @Test("Every code arises from a claim, and has its disposition")
    func everyCode() async throws {
        var found: [DecisionCode: Set<Disposition>] = [:]
        func note(_ outcome: PurchaseOutcome) {
            guard let code = DecisionCode(rawValue: outcome.code) else {
                Issue.record("\(outcome.code) is no code of the ledger")
                return
            }
            found[code, default: []].insert(outcome.disposition)
        }
        try await LedgerWorld.with {
            $0.products["com.example.app.wrong"] = RegisteredProduct(kind: .nonConsumable)
        } _: { world in
            for outcome in try await requests(world) { note(outcome) }
            for outcome in try await states(world) { note(outcome) }
            for outcome in try await orders(world) { note(outcome) }
        }
        for isToken in [false, true] {
            try await LedgerWorld.with {
                ($0.requiresSignedTransaction, $0.requiresAccountToken) = (!isToken, isToken)
            } _: { world in
                let receipt = try LedgerWorld.receipt([MintedWorld.purchases()[0]])
                note(try await world.claim("2000000000000001", receipt))
            }
        }
        for outcome in try await appStore() { note(outcome) }
        let missing = DecisionCode.allCases.filter { found[$0] == nil }
        #expect(missing == [], "no claim ends with these")
        for (code, dispositions) in found {
            #expect(dispositions.isSubset(of: Self.dispositions(of: code)), "\(code): \(dispositions)")
        }
    }

    /// Claims that wait for the App Store, and their outcomes after its answer.
    private func appStore() async throws -> [PurchaseOutcome] {
        var outcomes: [PurchaseOutcome] = []
        try await TemporaryFolder.with { folder in
            var app = LedgerWorld.app()
            app.mode = .apple
            let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
            let world = try await LedgerWorld(database, apps: [app])
            let codes: [DecisionCode] = [
                .appStoreRefused, .appStoreContradicts, .appStoreSecretMismatch, .appStoreUnanswered,
            ]
            for (number, code) in codes.enumerated() {
                let claim = try await world.claim("\(number)", try LedgerWorld.coinReceipt(number))
                outcomes.append(claim)
                outcomes.append(try await world.decision(claim.submissionID, AppStoreAnswer(refusal: Rejection(code))))
            }
            try await database.close()
        }
        return outcomes
    }

    @Test("Codes are unique, differ from the core's, and have a sentence")
    func words() {
        let codes = DecisionCode.allCases.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        #expect(Set(codes).isDisjoint(with: ReasonCode.allCases.map(\.rawValue)))
        for sentence in DecisionCode.allCases.map(\.sentence) + LedgerRefusal.Code.allCases.map(\.sentence) {
            #expect(sentence.hasSuffix(".") && sentence.first?.isUppercase == true, "\(sentence)")
        }
    }

    /// The disposition of a code in the design. A code about the order alone leaves the purchase to its owner.
    private static func dispositions(of code: DecisionCode) -> Set<Disposition> {
        switch code {
        case .accepted: [.granted]
        // Only an order may be refused.
        case .alreadyClaimed: [.granted, .refused]
        case .productMismatch, .quantityMismatch: [.granted, .operator]
        case .purchaseErased, .purchaseRevoked, .purchaseCancelled, .purchaseWithdrawn, .purchaseUpgraded,
            .subscriptionExpired, .appAccountTokenMismatch, .appStoreRefused:
            [.refused]
        case .bodyMalformed, .bodyTooLarge, .fieldMissing, .fieldMalformed, .productUnknown, .productKindMismatch,
            .orderUnknown, .orderOfAnotherCustomer, .appStoreContradicts,
            .appStoreSecretMismatch:
            [.operator]
        case .transactionNotFound, .accountTokenNeeded, .signedTransactionNeeded, .evidenceNotAPurchase, .noPurchases,
            .appStorePending, .appStoreUnanswered, .periodUnknown:
            [.retry]
        case .orderAlreadyPaid, .orderCancelled, .orderRefunded, .orderEnvironmentMismatch, .purchaseOutsideOrder,
            .purchaseNotPaid:
            [.granted, .refused]
        }
    }

    /// Claims that are invalid in themselves, or whose evidence does not prove them.
    private func requests(_ world: LedgerWorld) async throws -> [PurchaseOutcome] {
        var outcomes: [PurchaseOutcome] = []
        let evidence = try LedgerWorld.signed("1")
        for code in [DecisionCode.bodyMalformed, .bodyTooLarge] {
            var submission = world.submission("1", evidence)
            submission.flaw = Rejection(code)
            outcomes.append(try await world.ledger.submit(submission))
        }
        outcomes.append(try await world.ledger.submit(world.submission(nil, evidence)))
        outcomes.append(try await world.ledger.submit(world.submission("1\u{7}", evidence)))
        outcomes.append(try await world.ledger.submit(world.submission("1", quantity: 2, evidence)))
        outcomes.append(try await world.claim("1", try MintedWorld.mint(MintedWorld.appTransaction())))
        outcomes.append(try await world.claim("1", try LedgerWorld.receipt([])))
        outcomes.append(try await world.claim("2", evidence))
        outcomes.append(try await world.claim("1", product: LedgerWorld.pro, evidence))
        let unknown = try LedgerWorld.signed("2", product: "com.example.app.unknown")
        outcomes.append(try await world.claim("2", product: "com.example.app.unknown", unknown))
        let wrong = try LedgerWorld.signed("3", product: "com.example.app.wrong")
        outcomes.append(try await world.claim("3", product: "com.example.app.wrong", wrong))
        return outcomes
    }

    /// Purchases that currently give nothing, or belong to another customer.
    private func states(_ world: LedgerWorld) async throws -> [PurchaseOutcome] {
        var outcomes: [PurchaseOutcome] = []
        let clean = try LedgerWorld.signed("11")
        outcomes.append(try await world.claim("11", clean))
        outcomes.append(try await world.claim("11", customer: "bob", clean))
        let revoked = try LedgerWorld.signed("11") { $0.refund(at: $0.signedDate?.addingTimeInterval(60)) }
        outcomes.append(try await world.claim("11", revoked))
        outcomes.append(try await world.claim("11", clean))
        var cancelled = MintedWorld.purchases()[1]
        cancelled.cancellationDate = MintedWorld.moment.addingTimeInterval(60)
        outcomes.append(
            try await world.claim(
                "2000000000000002", product: LedgerWorld.pro, try LedgerWorld.receipt([cancelled])))
        let upgraded = try LedgerWorld.period("12", original: "12", from: 0) { $0.isUpgraded = true }
        outcomes.append(try await world.claim("12", product: LedgerWorld.monthly, upgraded))
        let expired = try LedgerWorld.period("13", original: "13", from: -60)
        outcomes.append(try await world.claim("13", product: LedgerWorld.monthly, expired))
        let endless = try LedgerWorld.period("15", original: "15", from: 0) { $0.expiresDate = nil }
        outcomes.append(try await world.claim("15", product: LedgerWorld.monthly, customer: "erin", endless))
        let erased = try LedgerWorld.signed("16")
        _ = try await world.claim("16", customer: "frank", erased)
        try await world.erase("frank")
        outcomes.append(try await world.claim("16", customer: "bob", erased))
        let order = try await world.order("carol")
        let carols = try LedgerWorld.signed("14") { $0.appAccountToken = order.appAccountToken.uuidString.lowercased() }
        outcomes.append(try await world.claim("14", customer: "bob", carols))
        return outcomes
    }

    /// Claims that name an order that they cannot pay.
    private func orders(_ world: LedgerWorld) async throws -> [PurchaseOutcome] {
        var outcomes: [PurchaseOutcome] = []
        func claim(
            _ id: String, _ order: UUID, customer: String? = nil, product: String = LedgerWorld.coins,
            _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
        ) async throws -> PurchaseOutcome {
            let kind: SignedTransactionTemplate.ProductType =
                product == LedgerWorld.coins ? .consumable : .autoRenewableSubscription
            let evidence = try LedgerWorld.signed(id, product: product, kind: kind) {
                if kind != .consumable { $0.expiresDate = $0.purchaseDate?.addingTimeInterval(2_592_000) }
                change(&$0)
            }
            return try await world.claim(id, product: product, customer: customer, order: order, evidence)
        }
        outcomes.append(try await claim("21", UUID()))
        let order = try await world.order("dora").id
        outcomes.append(try await claim("21", order, customer: "bob"))
        outcomes.append(try await claim("22", order) { $0.environment = "Sandbox" })
        outcomes.append(try await claim("23", order) { $0.purchaseDate = MintedWorld.moment })
        outcomes.append(try await claim("24", order))
        outcomes.append(try await claim("25", order))
        _ = try await world.observe(
            try LedgerWorld.signed("24") { $0.refund(at: $0.signedDate?.addingTimeInterval(60)) })
        outcomes.append(try await claim("26", order))
        let cancelled = try await world.order("dora").id
        _ = try await world.ledger.perform(CancelOrder(app: "example", orderID: cancelled))
        outcomes.append(try await claim("27", cancelled))
        let subscription = try await world.order("dora", product: LedgerWorld.monthly).id
        outcomes.append(
            try await claim("28", subscription, product: LedgerWorld.monthly) {
                $0.inAppOwnershipType = "FAMILY_SHARED"
            })
        return outcomes
    }
}
