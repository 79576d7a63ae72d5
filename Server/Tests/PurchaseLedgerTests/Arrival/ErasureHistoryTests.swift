import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Random acts with erasures on every engine: after each history, the tables equal a rebuild from the journal.
///
/// `ASSAY_ERASURE_HISTORIES` sets the number of histories, and `ASSAY_ERASURE_FIRST` where they begin;
/// `dev/torture.sh erasures` runs 200.
@Suite("Random acts with erasures")
struct ErasureHistoryTests {
    private static let histories =
        ProcessInfo.processInfo.environment["ASSAY_ERASURE_HISTORIES"].flatMap { Int($0) } ?? 6
    /// The number of the first history, to repeat one alone.
    private static let first =
        ProcessInfo.processInfo.environment["ASSAY_ERASURE_FIRST"].flatMap { Int($0) } ?? 0
    /// Histories that share a database, with separate names and ids.
    private static let chunk = 6
    private static let seed: UInt64 = 2_026_112_311

    @Test("C.12 After random acts with erasures, the audit is clean")
    func audit() async throws {
        let seed = Self.seed + UInt64(Self.first)
        print("acts with erasures: seeds \(seed) to \(seed + UInt64(Self.histories) - 1)")
        for start in stride(from: Self.first, to: Self.first + Self.histories, by: Self.chunk) {
            for policy in [TransferPolicy.deny, .move] {
                try await LedgerWorld.with({ $0.transfer = policy }) { world in
                    world.clock.advance(days: 5)
                    for number in start..<min(start + Self.chunk, Self.first + Self.histories) {
                        var history = ErasureHistory(seed: Self.seed + UInt64(number), number: number)
                        try await history.happen(in: world)
                        let findings = try await world.ledger.audit().findings
                        try #require(findings == [], "seed \(history.seed) under \(policy.rawValue)")
                    }
                }
            }
        }
    }
}

/// A random history of a few customers who share originals.
struct ErasureHistory {
    let seed: UInt64
    private let prefix: String
    private var random: RandomStatements
    private var tokens: [UUID] = []
    private var pieces: [Piece] = []
    private var orders: [UUID] = []

    private struct Piece {
        var transaction: String
        var product: String
        var bytes: [UInt8]
    }

    init(seed: UInt64, number: Int) {
        self.seed = seed
        prefix = "\(1000 + number)"
        random = RandomStatements(seed: seed)
        tokens = [UUID(), UUID(), UUID()]
    }

    private mutating func customer() -> String { "h\(prefix)c\(random.pick([1, 2, 3, 4]))" }

    /// Performs the acts; refused ones change nothing.
    mutating func happen(in world: LedgerWorld) async throws {
        for _ in 0..<random.pick([15, 30, 45]) {
            do {
                try await act(in: world)
            } catch is LedgerRefusal {
                continue
            }
        }
    }

    private mutating func act(in world: LedgerWorld) async throws {
        let (ledger, name, other) = (world.ledger, customer(), customer())
        switch random.pick(Array(0...14)) {
        case 0, 1, 2: pieces.append(try piece(at: world.clock.now))
        case 3, 4, 5:
            guard !pieces.isEmpty else { return }
            let piece = random.pick(pieces)
            let order = random.chance(20) && !orders.isEmpty ? random.pick(orders) : nil
            _ = try await world.claim(
                piece.transaction, product: piece.product, customer: order == nil ? name : nil, order: order,
                piece.bytes)
        case 6:
            guard !pieces.isEmpty else { return }
            try await world.observe(random.pick(pieces).bytes)
        case 7:
            guard !pieces.isEmpty else { return }
            let evidence = (0..<random.pick([2, 3])).map { _ in random.pick(pieces).bytes }
            _ = try await ledger.restore(RestoreSubmission(app: "example", customerID: name, evidence: evidence))
        case 8: _ = try await world.consume(random.pick([1, 2]), UUID().uuidString, of: name)
        case 9:
            guard !pieces.isEmpty else { return }
            let id = random.pick(pieces).transaction
            _ = try await ledger.perform(
                MovePurchase(app: "example", transactionID: id, to: name, reason: "random"))
        case 10:
            guard random.chance(40) else { return }
            try await ledger.perform(MergeCustomers(app: "example", customerID: name, into: other))
        case 11:
            _ = try await ledger.perform(
                AssignToken(app: "example", customerID: name, token: random.pick(tokens)))
        case 12:
            guard random.chance(60) else { return }
            _ = try await ledger.perform(EraseCustomer(app: "example", customerID: name, reason: "random"))
        case 13:
            let product = random.pick([LedgerWorld.coins, LedgerWorld.pro])
            orders.append(
                try await world.order(name, product: product, quantity: product == LedgerWorld.pro ? 1 : 3).id)
        default:
            if random.chance(50), let order = orders.last {
                _ = try await ledger.perform(FulfilOrder(app: "example", orderID: order))
            } else if random.chance(50), !pieces.isEmpty {
                let id = random.pick(pieces).transaction
                _ = try await ledger.perform(
                    RevokeByHand(
                        app: "example", customerID: name, .purchase(transactionID: id, environment: nil),
                        reason: "random"))
            } else {
                world.clock.advance(days: Int64(random.pick([1, 5, 20])))
            }
        }
    }

    /// A signed transaction of one of a few originals, bought about now.
    private mutating func piece(at now: Timestamp) throws -> Piece {
        let kinds: [(String, SignedTransactionTemplate.ProductType, String)] = [
            (LedgerWorld.coins, .consumable, "1"), (LedgerWorld.coins, .consumable, "1"),
            (LedgerWorld.coins, .consumable, "2"), (LedgerWorld.pro, .nonConsumable, "3"),
            (LedgerWorld.monthly, .autoRenewableSubscription, "4"),
            (LedgerWorld.monthly, .autoRenewableSubscription, "4"),
            (LedgerWorld.pass, .nonRenewingSubscription, "5"), (LedgerWorld.pass, .nonRenewingSubscription, "6"),
        ]
        let (product, kind, original) = random.pick(kinds)
        let id = original + random.pick(["", "1", "2", "3"])
        let date = Date(timeIntervalSince1970: Double(now.millisecondsSince1970) / 1000)
            .addingTimeInterval(random.pick([-86_400, -60, -10 * 86_400]))
        let token = random.maybe(tokens)
        let isRefunded = random.chance(15)
        let transaction = prefix + id
        let bytes = try LedgerWorld.signed(transaction, product: product, kind: kind) {
            $0.originalTransactionID = prefix + original
            $0.quantity = kind == .consumable ? 3 : 1
            ($0.purchaseDate, $0.signedDate) = (date, date)
            $0.appAccountToken = token?.uuidString.lowercased()
            if kind == .autoRenewableSubscription { $0.expiresDate = date.addingTimeInterval(30 * 86_400) }
            if isRefunded { ($0.revocationDate, $0.signedDate) = (date, date.addingTimeInterval(30)) }
        }
        return Piece(transaction: transaction, product: product, bytes: bytes)
    }
}
