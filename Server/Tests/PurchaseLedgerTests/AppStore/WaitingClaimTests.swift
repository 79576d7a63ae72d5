import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

import struct PurchaseAPI.SubmissionMessage

@Suite("Claims that wait for the App Store", .ledger({ $0.mode = .apple }))
struct WaitingClaimTests {
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("A waiting claim has no effect; a repeated claim joins it, and a different claim waits separately")
    func waits() async throws {
        let receipt = try LedgerWorld.coinReceipt(1, 2)
        let outcome = try await world.claim("1", receipt)
        #expect(outcome.verdict == .undetermined && outcome.code == "app_store_pending")
        #expect(outcome.disposition == .retry && outcome.asksAppStore == outcome.submissionID)
        #expect(try await world.balance() == nil)
        #expect(try await world.events() == [])
        let again = try await world.claim("1", receipt)
        #expect(again.submissionID == outcome.submissionID && again.asksAppStore == nil)
        #expect(again.leafHash == outcome.leafHash)
        #expect(again.isReplayed && !outcome.isReplayed, "C.14 The same customer claimed it before")
        let other = try await world.claim("2", receipt)
        #expect(other.submissionID != outcome.submissionID && other.verdict == .undetermined)
        let stranger = try await world.claim("1", customer: "bob", receipt)
        #expect(stranger.submissionID != outcome.submissionID && stranger.verdict == .undetermined)
        var filter = SubmissionFilter()
        filter.verdict = .undetermined
        #expect(try await world.submissions(filter).count == 3)
        filter.verdict = .rejected
        #expect(try await world.submissions(filter).isEmpty)
        #expect(try await world.submissions().count == 3)
    }

    @Test(
        "What is wrong without the App Store is refused at once, and signed data and known purchases are decided at once"
    )
    func decidedAtOnce() async throws {
        let receipt = try LedgerWorld.coinReceipt(1)
        #expect(try await world.claim("1", product: LedgerWorld.pro, receipt).code == "product_mismatch")
        #expect(try await world.claim("9", receipt).code == "transaction_not_found")
        #expect(try await world.claim("1", Array(receipt.dropLast(40))).verdict == .rejected)
        #expect(try await world.claim("1", order: UUID(), receipt).code == "order_unknown")
        #expect(try await world.claim("5", try LedgerWorld.signed("5")).code == "accepted")
        let waiting = try await world.claim("1", receipt)
        #expect(try await world.decision(waiting.submissionID, LedgerWorld.agreement()).code == "accepted")
        let again = try await world.claim("1", receipt)
        #expect(again.code == "accepted" && again.isReplayed && again.asksAppStore == nil)
        #expect(try await world.claim("1", customer: "bob", receipt).code == "already_claimed")
    }

    @Test("The App Store's agreement grants once; the decision names the claim, and an event reports it")
    func granted() async throws {
        let receipt = try LedgerWorld.coinReceipt(1)
        let claim = try await world.claim("1", receipt)
        let decided = try await world.decision(claim.submissionID, LedgerWorld.agreement())
        #expect(decided.code == "accepted" && !decided.isReplayed && decided.disposition == .granted)
        #expect(decided.submissionID != claim.submissionID)
        #expect(try await world.balance() == 3)
        #expect(try await world.events() == ["granted", "claim_decided"])
        let record = try await world.submission(claim.submissionID)
        #expect(record.code == "app_store_pending" && record.decision?.submissionID == decided.submissionID.text)
        #expect(record.decision?.code == "accepted" && record.nextAttemptAt == nil)
        let decision = try await world.submission(decided.submissionID)
        #expect(decision.decides == claim.submissionID.text && decision.code == "accepted")
        let reply = try await world.ledger.answer(
            EvidenceOfEntry(app: "example", entryID: try UUID(answered: record.appStoreAnswerID ?? "")))
        #expect(reply?.bytes == LedgerWorld.agreement().reply)
        // A second server with the same answer is too late.
        guard case .alreadyRecorded = try await world.answer(claim.submissionID, LedgerWorld.agreement()) else {
            Issue.record("the answer was recorded twice")
            return
        }
        let event = try #require(
            try await world.ledger.answer(EventList(app: "example", limit: 10)).last { $0.type == "claim_decided" })
        #expect(event.content.reason == "accepted" && event.content.submissionID == claim.submissionID.text)
    }

    @Test(
        "A refusal, a contradiction, a wrong secret and no answer grant nothing, and are said to be what they are",
        arguments: [
            (DecisionCode.appStoreRefused, Disposition.refused, Verdict.rejected),
            (.appStoreContradicts, .operator, .rejected), (.appStoreSecretMismatch, .operator, .rejected),
            (.appStoreUnanswered, .retry, .undetermined),
        ])
    func refused(_ code: DecisionCode, _ disposition: Disposition, _ verdict: Verdict) async throws {
        let receipt = try LedgerWorld.coinReceipt(1)
        let claim = try await world.claim("1", receipt)
        var answer = AppStoreAnswer(
            refusal: Rejection(code, expected: "status 0", found: "status 21003"),
            isContradiction: code == .appStoreContradicts)
        if code != .appStoreUnanswered { answer.reply = Array(#"{"status":21003}"#.utf8) }
        let decided = try await world.decision(claim.submissionID, answer)
        #expect(decided.code == code.rawValue && decided.disposition == disposition && decided.verdict == verdict)
        #expect(try await world.balance() == nil)
        let isContradicted = code == .appStoreContradicts
        #expect(try await world.events() == (isContradicted ? ["contradicted", "claim_decided"] : ["claim_decided"]))
        #expect(try await world.submission(claim.submissionID).decision?.code == code.rawValue)
        let repeated = try await world.claim("1", receipt)
        if code == .appStoreRefused || code == .appStoreContradicts {
            // A claim repeated a moment later gets the outcome, and writes nothing.
            #expect(repeated.submissionID == decided.submissionID && repeated.code == code.rawValue)
            #expect(repeated.disposition == disposition && repeated.asksAppStore == nil)
            let restore = RestoreSubmission(app: "example", customerID: "alice", evidence: [receipt])
            #expect(try await world.ledger.restore(restore).purchases.map(\.code) == [code.rawValue])
        }
        world.clock.advance(seconds: 1000)
        // If it is repeated later, the claim waits again, and can still be granted.
        let again = try await world.claim("1", receipt)
        #expect(again.verdict == .undetermined)
        #expect(try await world.decision(again.submissionID, LedgerWorld.agreement()).code == "accepted")
        #expect(try await world.balance() == 3)
    }

    @Test("A cancellation that the App Store states withdraws the purchase, and newer signed data reverses it")
    func cancelled() async throws {
        let claim = try await world.claim("1", try LedgerWorld.coinReceipt(1))
        let date = Timestamp(millisecondsSince1970: world.clock.now.millisecondsSince1970 - 1000)
        let decided = try await world.decision(
            claim.submissionID,
            LedgerWorld.agreement {
                $0.cancellations = [AppStoreAnswer.Cancellation(LedgerWorld.key("1"), at: date)]
            })
        #expect(decided.verdict == .rejected && decided.disposition == .refused, "\(decided.code)")
        #expect(try await world.balance() ?? 0 == 0)
        #expect(try await world.events().contains("revoked"))
        try await world.observe(
            try LedgerWorld.signed("1") {
                $0.environment = "Sandbox"
                $0.quantity = 3
                $0.signedDate = Date(timeIntervalSince1970: Double(date.millisecondsSince1970) / 1000 + 60)
            })
        #expect(try await world.balance() == 3)
    }

    @Test("An account token that the App Store states refuses the claim of another customer, and grants nothing")
    func token() async throws {
        let token = UUID()
        try await world.assign(token, to: "carol")
        let stated = try #require(AppAccountToken(token.text))
        let answer = LedgerWorld.agreement { $0.tokens = [LedgerWorld.key("1"): stated] }
        let claim = try await world.claim("1", customer: "mallory", try LedgerWorld.coinReceipt(1))
        let decided = try await world.decision(claim.submissionID, answer)
        #expect(decided.code == "app_account_token_mismatch")
        #expect(try await world.balance(of: "mallory") == nil)
        #expect(
            try await world.balance(of: "carol") == 3, "the receipt proves the purchase, and Apple says whose it is"
        )
        #expect(try await world.claim("1", customer: "mallory", try LedgerWorld.coinReceipt(1)).verdict == .rejected)
        #expect(try await world.claim("1", customer: "carol", try LedgerWorld.coinReceipt(1)).code == "accepted")
    }

    @Test(
        "An account token of Apple's that becomes known later gives the purchase to its customer; a signed one is stronger"
    )
    func lateToken() async throws {
        let (token, signedToken) = (UUID(), UUID())
        let stated = try #require(AppAccountToken(token.text))
        let answer = LedgerWorld.agreement { $0.tokens = [LedgerWorld.key("1"): stated] }
        let claim = try await world.claim("1", customer: "mallory", try LedgerWorld.coinReceipt(1))
        #expect(try await world.decision(claim.submissionID, answer).code == "accepted")
        try await world.assign(token, to: "carol")
        #expect(try await world.balance(of: "carol") == 3)
        try await world.assign(signedToken, to: "dora")
        try await world.observe(
            try LedgerWorld.signed("1") {
                $0.environment = "Sandbox"
                $0.quantity = 3
                $0.appAccountToken = signedToken.text
            })
        #expect(try await world.balance(of: "dora") == 3)
        try await world.erase("mallory")
    }

    @Test(
        "C.10 An app that requires signed transactions, or account tokens, accepts a token that the App Store states",
        arguments: [false, true])
    func requiredToken(isToken: Bool) async throws {
        try await LedgerWorld.with {
            $0.mode = .apple
            ($0.requiresSignedTransaction, $0.requiresAccountToken) = (!isToken, isToken)
        } _: { world in
            let needed = isToken ? "account_token_needed" : "signed_transaction_needed"
            let token = UUID()
            try await world.assign(token, to: "alice")
            let stated = try #require(AppAccountToken(token.text))
            let first = try await world.claim("1", try LedgerWorld.coinReceipt(1))
            let answer = LedgerWorld.agreement { $0.tokens = [LedgerWorld.key("1"): stated] }
            #expect(try await world.decision(first.submissionID, answer).code == "accepted")
            let second = try await world.claim("2", try LedgerWorld.coinReceipt(2))
            #expect(try await world.decision(second.submissionID, LedgerWorld.agreement()).code == needed)
            #expect(try await world.claim("2", try LedgerWorld.coinReceipt(2)).code == needed)
        }
    }

    @Test("A restore of which Apple assigns a part to another customer is decided, and not asked about again at once")
    func partOfAnother() async throws {
        let token = UUID()
        try await world.assign(token, to: "carol")
        let stated = try #require(AppAccountToken(token.text))
        let restore = RestoreSubmission(
            app: "example", customerID: "mallory", evidence: [try LedgerWorld.coinReceipt(1, 2)])
        let waiting = try await world.ledger.restore(restore)
        try await world.answer(
            waiting.asksAppStore[0], LedgerWorld.agreement { $0.tokens = [LedgerWorld.key("2"): stated] })
        let decided = try await world.ledger.restore(restore)
        #expect(decided.waiting.isEmpty && decided.purchases.map(\.code) == ["accepted", "app_account_token_mismatch"])
        #expect(try await world.balance(of: "mallory") == 3)
        #expect(try await world.balance(of: "carol") == 3)
    }

    @Test("Claims that wait are decided under the settings at that time, and a rebuild agrees")
    func settingsChange() async throws {
        let claim = try await world.claim("1", try LedgerWorld.coinReceipt(1))
        let restore = try await world.restore(of: "bob", [try LedgerWorld.coinReceipt(2)])
        let refused = try await world.claim("3", try LedgerWorld.coinReceipt(3))
        var app = LedgerWorld.app()
        (app.mode, app.environments) = (.offline, [.production])
        let changed = try await world.restarted([app])
        #expect(
            try await changed.decision(claim.submissionID, LedgerWorld.agreement()).code
                == "environment_not_accepted")
        try await changed.answer(restore.asksAppStore[0], LedgerWorld.agreement())
        let event = try #require(try await changed.ledger.answer(EventList(app: "example", limit: 100)).last)
        #expect(event.content.reason == "environment_not_accepted")
        app.bundleIDs = ["com.example.other"]
        let moved = try await world.restarted([app])
        try await moved.answer(refused.submissionID, AppStoreAnswer(refusal: Rejection(.appStoreRefused)))
        try await moved.requireConsistency()
        let back = try await world.restarted([LedgerWorld.app()])
        #expect(try await back.balance() == nil)
    }

    @Test("Claims of an app that was removed from the settings wait until it is restored")
    func removedApp() async throws {
        let claim = try await world.claim("1", try LedgerWorld.coinReceipt(1))
        world.clock.advance(seconds: 1000)
        let removed = try await world.restarted([])
        #expect(try await removed.ledger.answer(DueWork(WorkSelection([.claim], limit: 10))) == 0)
        #expect(try await removed.ledger.perform(LeaseWork(WorkSelection([.claim], limit: 10))) == [])
        var app = LedgerWorld.app()
        app.mode = .apple
        let back = try await world.restarted([app])
        #expect(
            try await back.ledger.perform(LeaseWork(WorkSelection([.claim], limit: 10))).map(\.entry)
                == [claim.submissionID])
        #expect(try await back.decision(claim.submissionID, LedgerWorld.agreement()).code == "accepted")
    }

    @Test("The order of a claim that waits is paid by the decision, unless it was cancelled meanwhile")
    func orders() async throws {
        try await world.tester("alice", true)
        let order = try await world.order(quantity: 3, environment: .sandbox)
        let receipt = try LedgerWorld.receipt([
            .consumable(
                productID: LedgerWorld.coins, transactionID: "1",
                purchaseDate: MintedWorld.moment.addingTimeInterval(3600), quantity: 3)
        ])
        let claim = try await world.claim("1", order: order.id, receipt)
        #expect(claim.verdict == .undetermined)
        #expect(try await world.order(order.id).status == .created)
        let decided = try await world.decision(claim.submissionID, LedgerWorld.agreement())
        #expect(decided.code == "accepted" && decided.orderID == order.id)
        #expect(try await world.order(order.id).status == .paid)
        let late = try await world.order(quantity: 3, environment: .sandbox)
        let second = try LedgerWorld.receipt([
            .consumable(
                productID: LedgerWorld.coins, transactionID: "2",
                purchaseDate: MintedWorld.moment.addingTimeInterval(3600), quantity: 3)
        ])
        let waiting = try await world.claim("2", order: late.id, second)
        _ = try await world.ledger.perform(CancelOrder(app: "example", orderID: late.id))
        let refused = try await world.decision(waiting.submissionID, LedgerWorld.agreement())
        #expect(refused.code == "order_cancelled" && refused.disposition == .granted)
        #expect(try await world.balance() == 6, "the customer has the purchase all the same")
    }

    @Test("The signed receipt in a reply is observed like any other evidence")
    func latestReceipt() async throws {
        let claim = try await world.claim("1", try LedgerWorld.coinReceipt(1))
        let newer = try LedgerWorld.coinReceipt(1, cancelled: MintedWorld.moment.addingTimeInterval(60))
        let decided = try await world.decision(claim.submissionID, LedgerWorld.agreement { $0.latestReceipt = newer })
        #expect(decided.verdict == .rejected, "\(decided.code)")
        #expect(try await world.balance() ?? 0 == 0)
        // A forged receipt proves nothing.
        let other = try await world.claim("2", try LedgerWorld.coinReceipt(2))
        let forged = Array(try LedgerWorld.coinReceipt(2, 3).dropLast(30))
        #expect(
            try await world.decision(other.submissionID, LedgerWorld.agreement { $0.latestReceipt = forged }).code
                == "accepted")
        #expect(try await world.balance() == 3)
    }

    @Test("A restore waits for each receipt that proves an unowned purchase, and is decided as a whole")
    func restores() async throws {
        let receipt = try LedgerWorld.coinReceipt(1, 2)
        let submission = RestoreSubmission(
            app: "example", customerID: "alice", evidence: [receipt, try LedgerWorld.signed("7")])
        let outcome = try await world.ledger.restore(submission)
        #expect(outcome.purchases.map(\.code) == ["app_store_pending", "app_store_pending", "accepted"])
        #expect(outcome.waiting.count == 1 && outcome.asksAppStore.count == 1)
        let again = try await world.ledger.restore(submission)
        #expect(again.waiting.map(\.claim) == outcome.waiting.map(\.claim) && again.asksAppStore.isEmpty)
        guard
            case .restored(let restored) = try await world.answer(outcome.asksAppStore[0], LedgerWorld.agreement())
        else {
            Issue.record("the restore was not decided")
            return
        }
        #expect(restored.purchases.map(\.code) == ["accepted", "accepted"])
        #expect(try await world.balance() == 6)
        let known = try await world.ledger.restore(submission)
        #expect(known.purchases.map(\.code) == ["accepted", "accepted", "accepted"] && known.waiting.isEmpty)
        let refusedReceipt = try LedgerWorld.coinReceipt(3)
        let refused = try await world.restore(of: "alice", [refusedReceipt])
        try await world.answer(refused.asksAppStore[0], AppStoreAnswer(refusal: Rejection(.appStoreRefused)))
        #expect(try await world.balance() == 6)
    }
}
