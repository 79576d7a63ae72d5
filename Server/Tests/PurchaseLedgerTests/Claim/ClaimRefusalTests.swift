import PurchaseLedger
import PurchaseVerification
import Testing

/// For each rule of a claim, situations that it refuses, with both facts, and situations close by that it does not.
@Suite("What each rule of a claim refuses")
struct ClaimRefusalTests {
    /// A situation, and the refusal in it; `nil` if the claim is accepted.
    struct Case {
        let refusal: String?
        var story: ClaimStory

        init(_ refusal: String?, _ story: ClaimStory = ClaimStory(), _ change: (inout ClaimStory) -> Void) {
            (self.refusal, self.story) = (refusal, story)
            change(&self.story)
        }
    }

    private static func expect(_ cases: [Case]) throws {
        for (number, item) in cases.enumerated() {
            #expect(try item.story.refusal() == item.refusal, "case \(number + 1)")
        }
    }

    // MARK: The stages before a transaction is looked at

    @Test("33.3 Evidence is refused with its own failure before the app's objection")
    func evidence() {
        let failure = VerificationError(.asn1TooDeep, expected: "at most 16", found: "17")
        let objection = VerificationError(.evidenceUnsupported)
        let rows: [(fails: Bool, isRefused: Bool, code: String?)] = [
            (true, true, "asn1_too_deep, at most 16, 17"), (true, false, "asn1_too_deep, at most 16, 17"),
            (false, true, "evidence_unsupported, -, -"), (false, false, nil),
        ]
        for (fails, isRefused, code) in rows {
            var evidence = ClaimedEvidence(kind: .appReceipt, objection: isRefused ? objection : nil)
            evidence.failure = fails ? failure : nil
            #expect(ClaimRules.evidence.refusal(of: evidence).map(ClaimStory.text) == code)
        }
    }

    @Test("33.3 An order of another customer is refused before an unknown one")
    func parties() {
        let rows: [(isOfAnother: Bool, hasCustomer: Bool, code: String?)] = [
            (true, true, "order_of_another_customer, -, -"), (true, false, "order_of_another_customer, -, -"),
            (false, false, "order_unknown, 7, -"), (false, true, nil),
        ]
        for (isOfAnother, hasCustomer, code) in rows {
            let parties = NamedParties(orderID: "7", isOrderOfAnother: isOfAnother, hasCustomer: hasCustomer)
            #expect(ClaimRules.parties.refusal(of: parties).map(ClaimStory.text) == code)
        }
    }

    @Test("33.3 Evidence has to prove the named transaction, or any if none is named")
    func proof() {
        struct Proof {
            var named: String? = "1"
            var proves = false
            var states = false
            var isEmpty = false
        }
        let rows: [(Proof, String?)] = [
            (Proof(isEmpty: true), "no_purchases, -, -"),
            (Proof(states: true, isEmpty: true), "no_purchases, -, -"),
            (Proof(named: nil, isEmpty: true), "no_purchases, -, -"),
            (Proof(proves: true, states: true, isEmpty: true), nil),
            (Proof(), "evidence_not_a_purchase, evidence of a transaction, notification"),
            (Proof(named: nil), "evidence_not_a_purchase, evidence of a transaction, notification"),
            (Proof(named: nil, states: true), "evidence_not_a_purchase, evidence of a transaction, notification"),
            (Proof(states: true), "transaction_not_found, 1, -"),
            (Proof(proves: true, states: true), nil), (Proof(named: nil, proves: true, states: true), nil),
            (Proof(named: nil, proves: true), nil),
        ]
        for (proof, code) in rows {
            var evidence = ClaimedEvidence(
                kind: .notification, isEmptyReceipt: proof.isEmpty, transactionID: proof.named)
            evidence.statesTransactions = proof.states
            evidence.proven = proof.proves ? [ClaimStory.facts()] : []
            #expect(ClaimRules.proof.refusal(of: evidence).map(ClaimStory.text) == code, "\(proof)")
        }
    }

    @Test("33.3 The fields of a request have to be there, and of their format")
    func fields() {
        func refusal(hasEvidence: Bool = true, _ change: (inout ClaimFields) -> Void) -> String? {
            var claim = ClaimFields()
            (claim.productID, claim.transactionID, claim.customerID) = ("coins", "1", "alice")
            change(&claim)
            do throws(Rejection) {
                try claim.requireComplete(hasEvidence: hasEvidence)
                return nil
            } catch {
                return ClaimStory.text(error)
            }
        }
        func malformed(_ name: String) -> String {
            "field_malformed, \(name) of at most 256 bytes without control characters, -"
        }
        #expect(refusal { _ in } == nil)
        #expect(refusal(hasEvidence: false) { _ in } == "field_missing, receipt_data or signed_transaction, -")
        let paths: [(String, WritableKeyPath<ClaimFields, String?>, Bool)] = [
            ("product_id", \.productID, true), ("transaction_id", \.transactionID, true),
            ("order_id", \.orderID, false), ("customer_id", \.customerID, false),
        ]
        for (name, path, isNeeded) in paths {
            #expect(refusal { $0[keyPath: path] = "" } == "field_missing, \(name), -")
            #expect(refusal { $0[keyPath: path] = "a\u{1}" } == malformed(name))
            #expect(refusal { $0[keyPath: path] = String(repeating: "a", count: 257) } == malformed(name))
            #expect(refusal { $0[keyPath: path] = String(repeating: "a", count: 256) } == nil)
            if isNeeded { #expect(refusal { $0[keyPath: path] = nil } == "field_missing, \(name), -") }
        }
        #expect(refusal { $0.customerID = nil } == "field_missing, order_id or customer_id, -")
        #expect(refusal { ($0.customerID, $0.orderID) = (nil, "7") } == nil)
        #expect(refusal { ($0.customerID, $0.orderID) = ("alice", "7") } == nil)
        #expect(refusal { $0.quantity = 0 } == "field_malformed, a quantity from 1, 0")
        #expect(refusal { $0.quantity = 1 } == nil)
    }

    // MARK: Statement and owner

    @Test("33.3 A claim has to agree with its evidence, in what it names")
    func statement() throws {
        try Self.expect([
            Case("purchase_erased, -, -") { $0.isErased = true },
            Case("product_mismatch, gems, coins") { $0.claim.productID = "gems" },
            Case(nil) { $0.claim.productID = nil },
            Case("quantity_mismatch, 2, 1") { $0.claim.quantity = 2 },
            Case(nil) { $0.claim.quantity = nil },
        ])
    }

    @Test("33.3 A claim binds with a token of the customer, and as far as the settings ask for signed data or a token")
    func binding() {
        for isSignedNeeded in [false, true] {
            for isTokenNeeded in [false, true] {
                for source in EvidenceSource.allCases {
                    for tokenOwner in [nil, Int64(1), 2] {
                        for token in [nil, AppAccountToken.sample(1)] {
                            var story = ClaimStory()
                            story.app.requiresSignedTransaction = isSignedNeeded
                            story.app.requiresAccountToken = isTokenNeeded
                            (story.source, story.tokenOwner, story.token) = (source, tokenOwner, token)
                            let isProof = !isSignedNeeded || source == .signedData || token != nil
                            let isOwn = isTokenNeeded ? tokenOwner == 1 : tokenOwner != 2
                            #expect(story.step.binds == (isProof && isOwn), "\(story.app) \(source)")
                            story.claim.productID = "gems"
                            #expect(!story.step.binds)
                        }
                    }
                }
            }
        }
    }

    @Test("33.3 The customer has to own the purchase")
    func owner() throws {
        let token = ClaimStory.facts { $0.accountToken = .sample(5) }
        let text = try #require(token.accountToken?.description)
        try Self.expect([
            Case("purchase_erased, -, -") { $0.isOfErasedCustomer = true },
            Case("signed_transaction_needed, a signed transaction, -") {
                ($0.owner, $0.app.requiresSignedTransaction) = (nil, true)
            },
            Case("account_token_needed, a signed transaction with an account token of the customer, -") {
                ($0.owner, $0.app.requiresSignedTransaction, $0.app.requiresAccountToken) = (nil, true, true)
            },
            Case("account_token_needed, a signed transaction with an account token of the customer, -") {
                ($0.owner, $0.app.requiresAccountToken) = (nil, true)
            },
            Case(nil) { ($0.app.requiresSignedTransaction, $0.app.requiresAccountToken) = (true, true) },
            Case("app_account_token_mismatch, -, \(text)") {
                ($0.owner, $0.tokenOwner, $0.proven) = (2, 2, token)
            },
            Case("app_account_token_mismatch, -, \(text)") {
                ($0.owner, $0.tokenOwner, $0.proven) = (2, 3, token)
            },
            // The purchase was transferred to the customer, and carries the token of its former owner.
            Case(nil) { ($0.owner, $0.tokenOwner) = (1, 2) },
            Case("already_claimed, -, another_customer") { ($0.owner, $0.tokenOwner) = (2, 1) },
            Case("already_claimed, -, another_customer") { $0.owner = 2 },
        ])
    }

    // MARK: Purchase

    @Test("33.3 A purchase counts with the kind of the settings, and as far as it was not withdrawn")
    func purchase() throws {
        let revoked = ClaimStory.facts { $0.revocation = Revocation(date: .day(3), percentage: nil) }
        let day = "\(Timestamp.day(3))"
        try Self.expect([
            Case("product_kind_mismatch, non_consumable, consumable") {
                ($0.purchase.kind, $0.app.products["coins"]) = (nil, RegisteredProduct(kind: .nonConsumable))
            },
            // A purchase keeps the kind with which it counts.
            Case(nil) { $0.app.products["coins"] = RegisteredProduct(kind: .nonConsumable) },
            Case("product_unknown, -, coins") { $0.purchase.kind = nil },
            Case("product_unknown, -, coins") { ($0.purchase.kind, $0.app.products) = (nil, [:]) },
            Case("purchase_withdrawn, -, \(day)") { $0.withdraw(.revoked, ClaimStory.facts()) },
            Case("purchase_withdrawn, -, \(day)") { $0.withdraw(.cancelled, ClaimStory.facts()) },
            Case("purchase_revoked, -, \(day)") { $0.withdraw(.revoked, revoked) },
            Case("purchase_cancelled, -, \(day)") { $0.withdraw(.cancelled, revoked) },
            Case("purchase_withdrawn, -, revoked_by_hand") { $0.purchase.isRevokedByHand = true },
            // A copy of a consumable gives nothing again, and pays an order as the purchase does.
            Case("already_claimed, -, restored_copy") {
                ($0.purchase.earliest, $0.role) = (ClaimStory.facts(), .none)
            },
            Case(nil) { $0.purchase.earliest = ClaimStory.facts() },
            Case(nil, ClaimStory("pro", .nonConsumable)) { $0.purchase.earliest = ClaimStory.facts() },
        ])
    }

    @Test("33.3 Units are withdrawn one by one where they can be, and any other purchase with its first unit")
    func wholeWithdrawal() throws {
        for kind in ProductKind.allCases {
            for units in Int64(0)...4 {
                var story = ClaimStory("x", kind, until: kind == .autoRenewable ? 9 : nil)
                story.claim.quantity = 3
                story.proven = ObservedTransaction(
                    .signed("1", "x", kind, on: 1, until: kind == .autoRenewable ? 9 : nil, quantity: 3))
                story.purchase.facts = story.proven
                story.purchase.withdrawal = Withdrawal(date: .day(3), cause: .revoked, units: units)
                let isWhole = [.consumable, .nonRenewing].contains(kind) ? units >= 3 : units > 0
                let verdict = try story.decided().verdict
                #expect(verdict.refusal?.code == (isWhole ? "purchase_withdrawn" : nil), "\(kind) \(units)")
                #expect(verdict.hasPurchase == !isWhole)
                story.purchase.isRevokedByHand = true
                #expect(try !story.decided().verdict.hasPurchase)
            }
        }
    }

    // MARK: Access

    @Test("33.3 Without an order, a purchase has to give its owner access now")
    func access() throws {
        let (now, late) = ("an end after \(ClaimStory.now)", "\(Timestamp.day(4))")
        let monthly = ClaimStory("monthly", .autoRenewable, until: 30)
        let ended = ClaimStory("monthly", .autoRenewable, until: 4)
        let pro = ClaimStory("pro", .nonConsumable)
        var cases: [Case] = [
            Case(nil, monthly) { _ in }, Case(nil, pro) { _ in },
            Case("purchase_upgraded, -, \(Timestamp.day(2))", monthly) {
                $0.purchase.facts = ObservedTransaction(
                    .signed("1", "monthly", .autoRenewable, on: 1, until: 30, stamp: 2, isUpgraded: true))
            },
            Case("subscription_expired, \(now), \(late)", ended) { _ in },
            Case("subscription_expired, \(now), \(late)", ended) { $0.entitle(.inGrace, transaction: "2") },
            // A grace period prolongs this period.
            Case(nil, ended) { $0.entitle(.inGrace, transaction: "1") },
            Case(nil, ClaimStory("monthly", .autoRenewable, until: 4.01)) { _ in },
            // Only periods of subscriptions end by themselves.
            Case(nil, ClaimStory("pass", .nonRenewing)) {
                $0.purchase.facts = ObservedTransaction(.signed("1", "pass", .nonRenewing, on: 1, until: 2))
            },
            Case("period_unknown, evidence that states the end of the period, -", monthly) {
                $0.entitle(.periodUnknown)
            },
            Case("subscription_expired, \(now), \(Timestamp.day(3))", pro) { $0.entitle(.expired, until: 3) },
            Case("subscription_expired, \(now), \(Timestamp.day(30))", monthly) { $0.entitle(.billingRetry) },
            Case("subscription_expired, \(now), -", pro) { $0.entitle(.newsMissing) },
            Case(nil, pro) { $0.entitle(.notStarted) }, Case(nil, pro) { $0.entitle(.inGrace) },
            Case(nil, pro) { $0.entitle(nil) },
            // Units are not access.
            Case(nil) {
                $0.role = .none
                $0.entitle(.consumed)
            },
        ]
        for reason in [NoAccessReason.revoked, .familyRevoked, .cancelled, .revokedByHand] {
            cases.append(Case("purchase_withdrawn, -, \(reason.rawValue)", pro) { $0.entitle(reason) })
        }
        for reason in [NoAccessReason.upgraded, .superseded] {
            cases.append(Case("purchase_upgraded, -, \(reason.rawValue)", monthly) { $0.entitle(reason) })
        }
        try Self.expect(cases)
    }

    @Test("33.3 A period that begins later belongs to its customer already")
    func beginsLater() throws {
        let (now, text) = (4.0, "an end after \(ClaimStory.now)")
        try Self.expect([
            Case(nil, ClaimStory("monthly", .autoRenewable, until: 30, from: 5)) { $0.entitle(.expired, until: 3) },
            Case(
                "subscription_expired, \(text), \(Timestamp.day(3))",
                ClaimStory("monthly", .autoRenewable, until: 30, from: now)
            ) { $0.entitle(.expired, until: 3) },
            // Without an end, or with one that is no later than its start, it is no period.
            Case(
                "subscription_expired, \(text), \(Timestamp.day(3))", ClaimStory("monthly", .autoRenewable, from: 5)
            ) { $0.entitle(.expired, until: 3) },
            Case(
                "subscription_expired, \(text), \(Timestamp.day(3))",
                ClaimStory("monthly", .autoRenewable, until: 5, from: 5)
            ) { $0.entitle(.expired, until: 3) },
            Case("subscription_expired, \(text), \(Timestamp.day(3))", ClaimStory("pro", .nonConsumable, from: 5)) {
                $0.entitle(.expired, until: 3)
            },
            Case(
                "subscription_expired, \(text), \(Timestamp.day(3))", ClaimStory("pass", .nonRenewing, from: 5)
            ) {
                $0.purchase.facts = ObservedTransaction(.signed("1", "pass", .nonRenewing, on: 5, until: 30))
                $0.entitle(.expired, until: 3)
            },
            // It ends before it starts, and is over.
            Case(
                "subscription_expired, \(text), \(Timestamp.day(2))",
                ClaimStory("monthly", .autoRenewable, until: 2, from: 5)
            ) { _ in },
        ])
    }
}
