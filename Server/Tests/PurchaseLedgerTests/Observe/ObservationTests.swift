import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Observation")
struct ObservationTests {
    private func observe(_ bytes: [UInt8]) throws -> Observation {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        return Observation(try PurchaseVerifier(anchors: anchors).verify(bytes, policies: []))
    }

    private let purchased = Timestamp(MintedWorld.moment)

    @Test("an app receipt states every purchase with all of its fields")
    func appReceipt() throws {
        var template = MintedWorld.receipt()
        template.purchases[1].cancellationDate = MintedWorld.moment.addingTimeInterval(60)
        (template.purchases[0].productAdamID, template.purchases[1].productAdamID) = (0, 77)
        template.purchases[2].isTrialPeriod = true
        template.purchases[2].extraAttributes = [.utf8(1720, "news")]
        let observation = try observe(MintedWorld.mint(template))
        #expect(observation.renewals.isEmpty)
        let facts = Dictionary(uniqueKeysWithValues: observation.transactionFacts.map { ($0.productID, $0) })
        let coins = try #require(facts["com.example.app.coins"])
        #expect(coins.key == TransactionKey(environment: .sandbox, transactionID: "2000000000000001"))
        #expect(coins.bundleID == "com.example.app" && coins.quantity == 3 && coins.kind == .consumable)
        #expect(coins.lineItemID == nil)
        // The number of a product is 0 in the sandbox.
        #expect(coins.productNumber == nil && coins.newestStamp == nil && coins.withdrawal == nil)
        #expect(coins.otherClaims == nil)
        let pro = try #require(facts["com.example.app.pro"])
        #expect(pro.productNumber == 77 && pro.withdrawal?.cause == .cancelled)
        #expect(pro.withdrawal?.date == Timestamp(MintedWorld.moment.addingTimeInterval(60)))
        let monthly = try #require(facts["com.example.app.monthly"])
        #expect(monthly.original.transactionID == "2000000000000003" && monthly.kind == .autoRenewable)
        #expect(monthly.end == Timestamp(MintedWorld.moment.addingTimeInterval(2_592_000)))
        #expect(monthly.firstEnd == monthly.end && monthly.lineItemID != nil && monthly.ownershipType == "PURCHASED")
        #expect(monthly.offer?.isFreeTrial == true)
        let others = try #require(monthly.otherClaims)
        #expect(String(decoding: others, as: UTF8.self) == "{\"1720\":\"0c046e657773\"}")
    }

    @Test("a transaction receipt states its only purchase", arguments: [MintedVersion.two, .three, .four])
    func transactionReceipt(version: MintedVersion) throws {
        var template = MintedWorld.transactionReceipt(environment: "Production")
        template.itemID = 77
        let observation = try observe(MintedWorld.mint(template, version))
        let facts = try #require(observation.transactionFacts.first)
        #expect(observation.transactions.count == 1)
        #expect(facts.productNumber == 77)
        #expect(observation.transactions.first?.source == .transactionReceipt)
        #expect(facts.key == TransactionKey(environment: .production, transactionID: "430000000000004"))
        #expect(facts.productID == "com.example.app.monthly" && facts.kind == .autoRenewable)
        #expect(facts.purchaseDate == purchased)
        let others = String(decoding: facts.otherClaims ?? [], as: UTF8.self)
        #expect(!others.contains("unique") && !others.contains("date"), "\(others)")
        #expect(others.contains("\"bvrs\":\"7\""), "\(others)")
    }

    @Test("a signed transaction states all of its claims, those without a field as canonical JSON")
    func signedTransaction() throws {
        var template = MintedWorld.transaction()
        template.appAccountToken = "0B5B2F5E-9D2C-4A7E-8F00-000000000001"
        template.revocationDate = MintedWorld.moment.addingTimeInterval(9)
        template.signedDate = MintedWorld.moment.addingTimeInterval(10)
        template.revocationReason = 1
        template.revocationType = "REFUND_PRORATED"
        template.revocationPercentage = 33_333
        template.isUpgraded = true
        template.billingPlanType = "MONTHLY"
        template.extra = [
            Claim("zeta", .array([.integer(2), .integer(3)])), Claim("alpha", .string("\u{1}\"\\é")),
        ]
        let observation = try observe(MintedWorld.mint(template))
        let facts = try #require(observation.transactionFacts.first)
        #expect(facts.accountToken?.description == "0b5b2f5e-9d2c-4a7e-8f00-000000000001")
        #expect(facts.signedRevocation?.percentage == 33_333 && facts.signedRevocation?.type == "REFUND_PRORATED")
        var withdrawal = Withdrawal(
            date: Timestamp(MintedWorld.moment.addingTimeInterval(9)), cause: .revoked, units: 1,
            stamp: Timestamp(MintedWorld.moment.addingTimeInterval(10)))
        withdrawal.appStoreReason = 1
        #expect(facts.withdrawal == withdrawal && facts.upgradedAt == facts.newestStamp)
        #expect(facts.newestStamp == observation.transactions.first?.stamp)
        #expect(facts.price == PurchasePrice(milliunits: 990, currency: "USD"))
        #expect(facts.storefront == Storefront(country: "USA", number: "143441"))
        #expect(facts.appTransactionID == "700000000000000001" && facts.reason == "RENEWAL")
        // A device's hash is not a fact of the purchase.
        let others = String(decoding: facts.otherClaims ?? [], as: UTF8.self)
        #expect(others == "{\"alpha\":\"\\u0001\\\"\\\\é\",\"billingPlanType\":\"MONTHLY\",\"zeta\":[2,3]}")
        #expect(facts.seats == nil)
    }

    @Test("a signed transaction with any one of the revocation's claims is revoked")
    func revocationClaims() throws {
        let signed = MintedWorld.moment.addingTimeInterval(10)
        func revocation(_ change: (inout SignedTransactionTemplate) -> Void) throws -> Revocation? {
            var template = MintedWorld.transaction()
            template.signedDate = signed
            change(&template)
            return try #require(try observe(MintedWorld.mint(template)).transactionFacts.first).signedRevocation
        }
        #expect(try revocation { _ in } == nil)
        #expect(try revocation { $0.revocationDate = signed }?.date == Timestamp(signed))
        #expect(try revocation { $0.revocationReason = 1 } == Revocation(date: Timestamp(signed), reason: 1))
        #expect(
            try revocation { $0.revocationType = "REFUND_FULL" }
                == Revocation(date: Timestamp(signed), type: "REFUND_FULL"))
        #expect(
            try revocation { $0.revocationPercentage = 50_000 }
                == Revocation(date: Timestamp(signed), percentage: 50_000))
    }

    @Test("an unknown kind or a malformed UUID is kept among the other claims")
    func unknownValues() throws {
        var template = MintedWorld.transaction()
        template.type = .init(rawValue: "Rental")
        template.appAccountToken = "no UUID"
        template.expiresDate = nil
        let facts = try #require(try observe(MintedWorld.mint(template)).transactionFacts.first)
        #expect(facts.kind == nil && facts.accountToken == nil)
        let others = String(decoding: facts.otherClaims ?? [], as: UTF8.self)
        #expect(others == "{\"appAccountToken\":\"no UUID\",\"type\":\"Rental\"}")
    }

    @Test("renewal info about a grace period without an end is as new as the later of its two signatures")
    func graceWithoutEnd() throws {
        for (renewal, notification) in [(1, 2), (2, 1)] as [(Double, Double)] {
            var template = MintedWorld.notification()
            template.data?.status = 4
            template.signedDate = MintedWorld.moment.addingTimeInterval(notification)
            template.data?.renewalInfo?.signedDate = MintedWorld.moment.addingTimeInterval(renewal)
            let observed = try observe(MintedWorld.mint(template)).renewals.first
            #expect(observed?.info.isGraceEndUnknown == true)
            #expect(observed?.stamp == Timestamp(MintedWorld.moment.addingTimeInterval(2)))
        }
        var template = MintedWorld.notification()
        template.data?.status = 4
        template.data?.renewalInfo?.gracePeriodExpiresDate = MintedWorld.moment.addingTimeInterval(9)
        #expect(try observe(MintedWorld.mint(template)).renewals.first?.info.isGraceEndUnknown == false)
    }

    @Test("renewal info and notifications state their content; an app transaction and a test state nothing")
    func others() throws {
        let renewal = try observe(MintedWorld.mint(MintedWorld.renewalInfo()))
        #expect(renewal.transactions.isEmpty && renewal.renewals.first?.key.originalTransactionID == "2000000000000003")
        let notification = try observe(MintedWorld.mint(MintedWorld.notification()))
        let transaction = try observe(MintedWorld.mint(MintedWorld.transaction()))
        #expect(notification.transactions.map(\.key) == transaction.transactions.map(\.key))
        #expect(notification.renewals.map(\.info) == renewal.renewals.map(\.info))
        // The transaction signed beside it, by which renewal info is kept.
        #expect(notification.renewals.first?.beside == transaction.transactions.first?.key.transactionID)
        #expect(renewal.renewals.first?.beside == nil)
        for template in [MintedWorld.appTransaction(), MintedWorld.testNotification()] as [any SignedPayloadTemplate] {
            let observation = try observe(MintedWorld.mint(template))
            #expect(observation.transactions.isEmpty && observation.renewals.isEmpty)
        }
    }

    @Test("a receipt and a signed transaction of one purchase agree in every fact that both state")
    func agreement() throws {
        let receipt = try observe(MintedWorld.mint()).transactionFacts
        let signed = try #require(try observe(MintedWorld.mint(MintedWorld.transaction())).transactionFacts.first)
        let stated = try #require(receipt.first { $0.key == signed.key })
        #expect(signed.contradictions(with: stated).isEmpty && signed.ownership == stated.ownership)
        #expect(signed.lineItemID == stated.lineItemID && signed.end == stated.end)
    }

    @Test("a receipt without an environment is not observed")
    func noEnvironment() throws {
        var template = MintedWorld.receipt()
        template.receiptType = nil
        let observation = try observe(MintedWorld.mint(template))
        #expect(observation.transactions.isEmpty)
    }

    @Test("in Xcode the second of the purchase joins the key, because its ids start again at 0")
    func xcode() {
        func key(_ second: Double) -> TransactionKey? {
            TransactionKey(
                environment: .xcode, transactionID: "0", purchaseDate: Timestamp(Date(timeIntervalSince1970: second)))
        }
        #expect(key(5.9) == key(5))
        #expect(key(5) != key(6))
        #expect(key(-0.5)?.second == -1)
        #expect(TransactionKey(environment: .xcode, transactionID: "0", purchaseDate: nil) == nil)
        #expect(TransactionKey(environment: .sandbox, transactionID: "0", purchaseDate: nil)?.second == 0)
        let facts = [5.0, 6].map { second -> ObservedTransaction in
            let date = Timestamp(Date(timeIntervalSince1970: second))
            let key = TransactionKey(environment: .xcode, transactionID: "0", second: Int64(second))
            var statement = TransactionStatement(key: key, source: .signedData, stamp: date)
            statement.purchaseDate = date
            return ObservedTransaction(statement)
        }
        #expect(facts[0].ownership != facts[1].ownership)
    }

    @Test(
        "ids that cannot be stored are not observed, and such fields count as not stated",
        arguments: [" ", "a\u{0}b", "a\u{85}b", String(repeating: "1", count: 257)])
    func identifiers(text: String) throws {
        #expect(!ExactText(text).isIdentifier)
        var template = MintedWorld.transaction()
        template.productID = text
        let facts = try #require(try observe(MintedWorld.mint(template)).transactionFacts.first)
        #expect(facts.productID == nil)
        template.transactionID = text
        #expect(try observe(MintedWorld.mint(template)).transactions.isEmpty)
    }

    @Test("text is compared by its bytes, not by canonical equivalence")
    func exactText() {
        #expect(ExactText("\u{212A}") != "K")
        #expect(ExactText("e\u{301}") != "\u{E9}")
        #expect(Set([ExactText("e\u{301}"), "\u{E9}"]).count == 2)
        #expect(ExactText.isNumericallyBefore("9", "10"))
    }

    @Test("tokens are read in upper and lower case, and no other text is a token")
    func tokens() {
        let token = AppAccountToken("00112233-4455-6677-8899-aabbccddeeff")
        #expect(token == AppAccountToken("00112233-4455-6677-8899-AABBCCDDEEFF"))
        #expect(token?.high == 0x0011_2233_4455_6677 && token?.description == "00112233-4455-6677-8899-aabbccddeeff")
        for text in [
            "", "00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-aabbccddeefg",
            "00112233-4455-6677-8899-aabbccddeeff0", "0011223-34455-6677-8899-aabbccddeeff",
        ] {
            #expect(AppAccountToken(text) == nil)
        }
    }
}

/// The seats that signed transactions state.
@Suite("Observation of seats")
struct SeatObservationTests {
    private func seats(_ claims: [Claim]) throws -> SeatFacts? {
        var template = MintedWorld.transaction()
        template.quantity = 3
        template.extra = claims
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let verified = try PurchaseVerifier(anchors: anchors).verify(MintedWorld.mint(template), policies: [])
        return try #require(Observation(verified).transactionFacts.first).seats
    }

    @Test("33.3 Each of the two claims about seats alone makes a transaction one of seats")
    func claims() throws {
        let info = Claim("multiSeatInfo", .object([Claim("revokedSeatQuantity", .integer(1))]))
        let reason = Claim("additionalTransactionReason", .string("SEAT_ADDITION"))
        #expect(try seats([]) == nil)
        #expect(try seats([info])?.remaining == 2)
        #expect(try seats([reason])?.additionReason == "SEAT_ADDITION")
        #expect(try seats([info, reason])?.remaining == 2)
    }
}

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
