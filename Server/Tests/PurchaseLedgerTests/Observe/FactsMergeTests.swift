import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

/// `ASSAY_MERGE_ROUNDS` sets the number of random cases of each law; `dev/torture.sh histories` runs 20,000.
@Suite("The merge of facts")
struct FactsMergeTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["ASSAY_MERGE_ROUNDS"].flatMap { Int($0) } ?? 1000

    @Test("is commutative, associative and idempotent, with equal stamps and missing dates among the statements")
    func laws() throws {
        var random = RandomStatements(seed: 20_261_122)
        print("merge laws: seed 20261122, \(Self.rounds) rounds")
        for round in 0..<Self.rounds {
            let statements = (0..<5).map { _ in random.statement() }
            let facts = statements.map { ObservedTransaction($0) }
            let forwards = facts.dropFirst().reduce(facts[0]) { $0.merged(with: $1) }
            let shuffled = facts.shuffled(using: &random.generator)
            let backwards = shuffled.dropFirst().reduce(shuffled[0]) { $0.merged(with: $1) }
            try #require(forwards == backwards, "round \(round)")
            let halves = facts[0].merged(with: facts[1]).merged(
                with: facts[2].merged(with: facts[3]).merged(with: facts[4]))
            try #require(forwards == halves, "round \(round)")
            // A repeat returns the same object: nothing is written.
            for statement in statements { try #require(forwards.merged(with: statement) === forwards) }
            try #require(forwards.merged(with: backwards) === forwards)
            try #require(forwards.encoded == backwards.encoded)
            try #require(forwards.withdrawal == backwards.withdrawal)
        }
    }

    @Test("of renewal info is commutative as well")
    func renewalLaws() throws {
        var random = RandomStatements(seed: 20_261_123)
        print("renewal merge laws: seed 20261123, \(Self.rounds) rounds")
        for round in 0..<Self.rounds {
            let facts = (0..<5).map { _ in ObservedRenewal(random.renewal()) }
            let forwards = facts.dropFirst().reduce(facts[0]) { $0.merged(with: $1) }
            let shuffled = facts.shuffled(using: &random.generator)
            let backwards = shuffled.dropFirst().reduce(shuffled[0]) { $0.merged(with: $1) }
            let halves = facts[0].merged(with: facts[1]).merged(
                with: facts[2].merged(with: facts[3]).merged(with: facts[4]))
            try #require(forwards == backwards && forwards == halves, "round \(round)")
            try #require(forwards.merged(with: backwards) === forwards)
            for statement in forwards.statements {
                let read = try RenewalStatement(
                    key: statement.key, beside: statement.beside, encoded: statement.encoded)
                try #require(read == statement)
            }
        }
    }

    @Test("stored facts are read back unchanged, and any other bytes are refused")
    func encoding() throws {
        var random = RandomStatements(seed: 20_261_124)
        print("encoding: seed 20261124, \(Self.rounds) rounds")
        for _ in 0..<Self.rounds {
            let facts = ObservedTransaction(random.statement()).merged(with: random.statement())
            let bytes = facts.encoded
            try #require(ObservedTransaction(key: facts.key, encoded: bytes) == facts)
            var changed = bytes
            changed[Int.random(in: changed.indices, using: &random.generator)] ^=
                1
                << UInt8.random(in: 0..<8, using: &random.generator)
            // A changed byte is refused, or gives other facts, whose only encoding it is.
            if let read = try? ObservedTransaction(key: facts.key, encoded: changed) {
                try #require(read.fields.encoded == changed && read != facts)
            }
        }
        let bytes = ObservedTransaction(random.statement()).encoded
        for end in 1..<bytes.count {
            // A prefix is refused, or it ends with a whole field and so states less.
            let prefix = Array(bytes[..<end])
            if let read = try? ObservedTransaction(key: .sample("1"), encoded: prefix) {
                #expect(read.fields.encoded == prefix)
            }
        }
        #expect(throws: FactsDecodingError.unknownVersion(2)) {
            try ObservedTransaction(key: .sample("1"), encoded: [2] + bytes.dropFirst())
        }
        #expect(throws: FactsDecodingError.self) { try ObservedTransaction(key: .sample("1"), encoded: []) }
        #expect(throws: FactsDecodingError.self) { try ObservedTransaction(key: .sample("1"), encoded: bytes + [0]) }
    }

    @Test("signed data overrides receipts field by field, and an absent field states nothing")
    func identity() {
        var receipt = TransactionStatement.receipt("1", "coins", .consumable, on: 9, quantity: 2)
        receipt.productNumber = 77
        var signed = TransactionStatement.signed("1", "coins", .consumable, on: 1, quantity: 3)
        signed.kind = nil
        for facts in [
            ObservedTransaction(receipt).merged(with: signed), ObservedTransaction(signed).merged(with: receipt),
        ] {
            #expect(facts.quantity == 3 && facts.purchaseDate == .day(1) && facts.kind == .consumable)
            #expect(facts.productNumber == 77)
        }
    }

    @Test("different originals, products, kinds and quantities are contradictions; absent fields are not")
    func contradictions() {
        let left = ObservedTransaction(.signed("1", "coins", .consumable, on: 1))
        let right = ObservedTransaction(.receipt("1", "pro", .nonConsumable, on: 2, original: "0", quantity: 2))
        #expect(left.contradictions(with: right) == Contradiction.allCases && left.contradictions(with: left).isEmpty)
        let silent = ObservedTransaction(TransactionStatement(key: .sample("1"), source: .appReceipt, stamp: .day(0)))
        #expect(left.contradictions(with: silent).isEmpty)
    }

    @Test("facts of another transaction change nothing")
    func otherTransaction() {
        let facts = ObservedTransaction(.signed("1", "pro", .nonConsumable, on: 1))
        #expect(facts.merged(with: .signed("2", "pro", .nonConsumable, on: 1, revoked: 1)) === facts)
    }

    @Test("ends only grow, and the first end stays; upgraded has its earliest stamp")
    func ends() {
        let facts = [30.0, 44, 37].reduce(
            ObservedTransaction(.signed("1", "monthly", .autoRenewable, on: 0, until: 31, stamp: 9, isUpgraded: true))
        ) {
            $0.merged(with: .signed("1", "monthly", .autoRenewable, on: 0, until: $1, stamp: 50, isUpgraded: true))
        }
        #expect(facts.end == .day(44) && facts.firstEnd == .day(30) && facts.upgradedAt == .day(9))
    }

    @Test("newer signed data takes an upgrade back, and still newer data states it again, in every order")
    func upgrades() throws {
        let statements = [(9.0, true), (12, false), (15, true), (10, false)].map { stamp, isUpgraded in
            TransactionStatement.signed(
                "1", "monthly", .autoRenewable, on: 0, until: 31, stamp: stamp, isUpgraded: isUpgraded)
        }
        var random = RandomStatements(seed: 2_026_112_314)
        for _ in 0..<50 {
            let order = statements.shuffled(using: &random.generator)
            var facts = ObservedTransaction(order[0])
            var seen = [order[0]]
            for statement in order.dropFirst() {
                facts = facts.merged(with: statement)
                seen.append(statement)
                let newest = try #require(seen.max { $0.stamp < $1.stamp })
                let earliest = seen.filter(\.isUpgraded).map(\.stamp).min()
                #expect(facts.upgradedAt == (newest.isUpgraded ? earliest : nil))
                #expect(try ObservedTransaction(key: facts.key, encoded: facts.encoded) == facts)
            }
            #expect(facts.upgradedAt == .day(9))
        }
    }

    @Test(
        "a revocation takes units by its percentage, rounded, at least one and at most all",
        arguments: [
            (3, 33_333, 1), (3, 66_667, 2), (3, 100_000, 3), (3, nil, 3), (3, 0, 0), (3, 1, 1), (3, 50_000, 2),
            (1, 1, 1), (1, 99_999, 1), (0, 50_000, 0), (0, nil, 0), (-4, nil, 0), (3, -5, 0), (3, 200_000, 3),
            (1_000_000_000, 50_000, 500_000_000), (1_000_000_000, 1, 10_000), (.max, 99_999, 9_223_279_803_134_407_259),
            (.max, nil, .max), (100_001, 1, 1), (150_000, 1, 2),
        ] as [(Int64, Int64?, Int64)])
    func units(quantity: Int64, percentage: Int64?, expected: Int64) {
        #expect(Revocation(date: .day(0), percentage: percentage).units(of: quantity) == expected)
    }

    @Test("the facts of a subscription's period have a few hundred bytes")
    func size() {
        var statement = TransactionStatement.signed(
            "430001234567890", "com.example.app.monthly", .autoRenewable, on: 30, original: "430001234500000",
            until: 60, token: UInt64.max, stamp: 31)
        statement.subscriptionGroupID = "20545999"
        statement.price = PurchasePrice(milliunits: 9990, currency: "EUR")
        statement.storefront = Storefront(country: "DEU", number: "143443")
        statement.appTransactionID = "704100000000000001"
        statement.reason = "RENEWAL"
        let count = ObservedTransaction(statement).encoded.count
        #expect((100...300).contains(count), "\(count) bytes")
    }
}
