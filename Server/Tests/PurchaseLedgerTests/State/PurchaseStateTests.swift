import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

/// The stored form of a purchase.
@Suite("The value of a purchase")
struct PurchaseStateTests {
    private static let seeds: [UInt64] = Array(1...60)

    @Test("is read back as it was, and gives back what it was made of", arguments: seeds)
    func roundTrip(seed: UInt64) throws {
        let inputs = RandomPurchase(seed).inputs
        let state = PurchaseState(inputs)
        let read = try PurchaseState(encoded: state.encoded())
        #expect(read == state)
        #expect(PurchaseState(read.inputs) == state)
        #expect(
            Set(read.inputs.transactions.map(\.facts)) == Set(inputs.transactions.map(\.facts)),
            "the facts are those that were written")
        #expect(read.inputs.renewal == inputs.renewal)
        #expect(read.inputs.statuses == inputs.statuses)
    }

    @Test("has the same bytes whatever the order in which it was learned", arguments: seeds)
    func order(seed: UInt64) throws {
        var purchase = RandomPurchase(seed)
        let bytes = PurchaseState(purchase.inputs).encoded()
        purchase.inputs.transactions.shuffle(using: &purchase.random.generator)
        purchase.inputs.acts.shuffle(using: &purchase.random.generator)
        purchase.inputs.revocations.shuffle(using: &purchase.random.generator)
        #expect(PurchaseState(purchase.inputs).encoded() == bytes)
    }

    @Test("gives the same rows after it was written and read", arguments: seeds)
    func rows(seed: UInt64) throws {
        let state = PurchaseState(RandomPurchase(seed).inputs)
        let (rows, read) = (PurchaseRows(of: state), PurchaseRows(of: try PurchaseState(encoded: state.encoded())))
        #expect(Set(rows.access) == Set(read.access))
        #expect(rows.owners == read.owners && rows.roles == read.roles)
        #expect(rows.lot == read.lot && rows.amounts == read.amounts)
        #expect(rows.passes.map(\.start) == read.passes.map(\.start))
    }

    @Test("is refused in every prefix, and with anything after it", arguments: seeds)
    func prefixes(seed: UInt64) throws {
        let bytes = PurchaseState(RandomPurchase(seed).inputs).encoded()
        for count in bytes.indices {
            #expect(throws: FactsDecodingError.self) { try PurchaseState(encoded: Array(bytes.prefix(count))) }
        }
        for byte: UInt8 in [0, 1, 255] {
            #expect(throws: FactsDecodingError.self) { try PurchaseState(encoded: bytes + [byte]) }
        }
        #expect(throws: FactsDecodingError.unknownVersion(2)) { try PurchaseState(encoded: [2] + bytes.dropFirst()) }
    }

    @Test("is another one or refused with any bit flipped, and the rules read any value that is not", arguments: seeds)
    func flippedBits(seed: UInt64) throws {
        let state = PurchaseState(RandomPurchase(seed).inputs)
        let bytes = state.encoded()
        var accepted = 0
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << UInt8(bit)
                do throws(FactsDecodingError) {
                    let read = try PurchaseState(encoded: changed)
                    #expect(read != state && read.encoded() == changed)
                    #expect(PurchaseState(read.inputs).encoded() == changed)
                    if accepted % 16 == 0 { _ = PurchaseRows(of: read) }
                    accepted += 1
                } catch {
                    // Refused.
                }
            }
        }
        #expect(accepted > 0, "numbers can have another value")
    }

    @Test("is refused or read as it would be written after parts were cut out, doubled and exchanged", arguments: seeds)
    func splices(seed: UInt64) throws {
        var random = RandomStatements(seed: seed)
        let (one, other) = (
            PurchaseState(RandomPurchase(seed).inputs).encoded(),
            PurchaseState(RandomPurchase(seed + 100).inputs).encoded()
        )
        for _ in 0..<500 {
            var bytes = one
            for _ in 0..<random.pick([1, 1, 2, 8]) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random.generator)
                let end = min(bytes.count, place + random.pick([1, 2, 9, 40]))
                switch random.pick([0, 1, 2, 3]) {
                case 0: bytes.removeSubrange(place..<end)
                case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
                case 2: bytes[place] = .random(in: 0...255, using: &random.generator)
                default: bytes.replaceSubrange(place..<end, with: other.dropFirst(place).prefix(end - place))
                }
            }
            do throws(FactsDecodingError) {
                let read = try PurchaseState(encoded: bytes)
                #expect(PurchaseState(read.inputs).encoded() == bytes)
                _ = PurchaseRows(of: read)
            } catch {
                // Refused.
            }
        }
    }

    @Test("is refused at once if a count is larger than its bytes", arguments: seeds)
    func counts(seed: UInt64) throws {
        let bytes = PurchaseState(RandomPurchase(seed).inputs).encoded()
        for count: [UInt8] in [[0xFF, 0xFF, 0xFF, 0x7F], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]] {
            for place in bytes.indices {
                let changed = Array(bytes[..<place] + count + bytes[(place + 1)...])
                do throws(FactsDecodingError) {
                    #expect(try PurchaseState(encoded: changed).encoded() == changed)
                } catch {
                    // Refused.
                }
            }
        }
        let many = [1] + [UInt8](repeating: 0xFF, count: 64)
        #expect(throws: FactsDecodingError.self) { try PurchaseState(encoded: many) }
    }

    @Test("takes at most 120 bytes a period, and the thousandth no more than the tenth")
    func size() throws {
        let (few, many) = (Self.subscription(periods: 10), Self.subscription(periods: 1010))
        let (fewBytes, manyBytes) = (PurchaseState(few).encoded().count, PurchaseState(many).encoded().count)
        #expect((manyBytes - fewBytes) / 1000 <= 120)
        #expect(try PurchaseState(encoded: PurchaseState(many).encoded()) == PurchaseState(many))
    }

    private static let isMeasuring = ProcessInfo.processInfo.environment["ASSAY_MEASURE_VALUE"] != nil

    /// Prints bytes and processor time of a period, for Benchmarks/README.md; the module is optimised, tests are not.
    @Test("costs as much as Benchmarks/README.md says", .enabled(if: isMeasuring))
    func cost() throws {
        let state = PurchaseState(Self.subscription(periods: 1000))
        let bytes = state.encoded()
        func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
            var best = Double.infinity
            for _ in 0..<200 {
                let begin = clock()
                for _ in 0..<5 { try body() }
                best = min(best, Double(clock() - begin) * 1e9 / Double(CLOCKS_PER_SEC) / 5000)
            }
            return best
        }
        let writing = nanoseconds { _ = state.encoded() }
        let reading = try nanoseconds { _ = try PurchaseState(encoded: bytes) }
        print("a period: \(bytes.count / 1000) bytes, \(Int(writing)) ns to write, \(Int(reading)) ns to read")
    }

    /// A weekly subscription with what the App Store signs for each period.
    static func subscription(periods: Int) -> PurchaseInputs {
        let first = 2_000_001_234_567_890
        let key = OriginalKey(environment: .production, transactionID: ExactText("\(first)"))
        var inputs = PurchaseInputs(app: 1, key: key)
        for period in 0..<periods {
            let id = ExactText("\(first + period * 7919)")
            let start = Timestamp(millisecondsSince1970: 1_764_405_000_123 + Int64(period) * 604_800_000)
            var statement = TransactionStatement(
                key: TransactionKey(environment: .production, transactionID: id), source: .signedData,
                stamp: start.adding(milliseconds: 1234, times: 1))
            statement.bundleID = "com.example.app"
            statement.originalTransactionID = key.transactionID
            statement.productID = "com.example.app.weekly"
            statement.kind = .autoRenewable
            statement.subscriptionGroupID = "21424344"
            statement.purchaseDate = start
            statement.originalPurchaseDate = Timestamp(millisecondsSince1970: 1_764_405_000_123)
            statement.quantity = 1
            statement.lineItemID = ExactText("\(2_000_000_098_765_432 + period * 104_729)")
            statement.ownershipType = "PURCHASED"
            statement.price = PurchasePrice(milliunits: 4990, currency: "EUR")
            statement.storefront = Storefront(country: "DEU", number: "143443")
            statement.reason = period == 0 ? "PURCHASE" : "RENEWAL"
            statement.appTransactionID = "704261234567890123"
            statement.end = start.adding(milliseconds: 604_800_000, times: 1)
            statement.accountToken = .sample(7)
            inputs.transactions.append(
                PurchaseInputs.Transaction(
                    ObservedTransaction(statement), knownAt: start.adding(milliseconds: 2345, times: 1),
                    kind: .autoRenewable, duration: nil, token: .sample(7)))
        }
        inputs.tokens[.sample(7)] = CustomerNumber(rawValue: 1)
        return inputs
    }
}

/// A purchase at random, with a few of everything.
private struct RandomPurchase {
    var random: RandomStatements
    var inputs = PurchaseInputs(app: 1, key: OriginalKey(environment: .production, transactionID: "1"))

    init(_ seed: UInt64) {
        random = RandomStatements(seed: seed)
        let customers = (1...4).map { CustomerNumber(rawValue: $0) }
        for number in 1...random.pick([1, 2, 3, 6]) {
            let key = TransactionKey.sample("\(number)")
            var facts = ObservedTransaction(random.statement(of: key))
            for _ in 0..<random.pick([0, 1, 3]) { facts = facts.merged(with: random.statement(of: key)) }
            let token = random.chance(80) ? facts.accountToken : random.maybe([.sample(3)])
            inputs.transactions.append(
                PurchaseInputs.Transaction(
                    facts, knownAt: random.moment(), kind: random.maybe(ProductKind.allCases),
                    duration: random.maybe([.months(1), .fixed(milliseconds: 86_400_000)]), token: token))
        }
        let keys = inputs.transactions.map(\.facts.key)
        for entry in 1...random.pick([1, 3, 8]) {
            let (transaction, customer) = (random.pick(keys), random.pick(customers))
            inputs.acts.append(
                OwnershipAct(
                    entry: Int64(entry),
                    content: random.chance(30)
                        ? .move(transaction: transaction, from: random.maybe(customers), to: customer)
                        : .claim(transaction: transaction, customer: customer, mayTransfer: random.chance(50))))
        }
        if random.chance(30) {
            inputs.acts.append(OwnershipAct(entry: 20, content: .merge(customers[0], into: customers[1])))
        }
        if random.chance(30) { inputs.erased = [random.pick(customers)] }
        for token in 1...3 where random.chance(50) {
            let token = AppAccountToken.sample(UInt64(token))
            guard inputs.transactions.contains(where: { [$0.token, $0.facts.accountToken].contains(token) })
            else { continue }
            inputs.tokens[token] = random.pick(customers)
        }
        if random.chance(70) {
            var renewal = ObservedRenewal(random.renewal())
            for _ in 0..<random.pick([0, 2, 5]) { renewal = renewal.merged(with: random.renewal()) }
            inputs.renewal = renewal
        }
        if random.chance(50) {
            inputs.statuses["bought"] = SignedStatus(value: random.pick([1, 2, 5]), stamp: random.moment())
        }
        for customer in customers where random.chance(30) { inputs.takes[customer] = random.pick([1, 5, .max]) }
        for entry in 30..<(30 + random.pick([0, 1, 2])) {
            inputs.revocations.append(
                PurchaseInputs.Revocation(
                    entry: Int64(entry), from: random.moment(), liftedAt: random.maybeMoment(),
                    isShared: random.chance(30), transaction: random.maybe(keys)))
        }
        if random.chance(40) { inputs.payments[random.pick(keys)] = random.pick([1, .max]) }
    }
}
