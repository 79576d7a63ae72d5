import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Random histories with erasures on every engine: the audit is clean, also after a rebuild and further acts, a token
/// is taken only by a customer with a name, and `purchase_erased` is said only of what was bought before an erasure.
///
/// `ASSAY_ERASURE_HISTORIES` sets the number of histories, and `ASSAY_ERASURE_FIRST` the first seed, to repeat one
/// alone; `dev/torture.sh erasures` runs 200. A history with a fault is reported with the fewest of its acts that show
/// one.
@Suite("Random acts with erasures", .tags(.everyEngine))
struct ErasureHistoryTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["ASSAY_ERASURE_HISTORIES"].flatMap { UInt64($0) } ?? 8
    private static let first = environment["ASSAY_ERASURE_FIRST"].flatMap { UInt64($0) } ?? 1

    @Test(
        "A.5 Erase anybody at any point of a random history with orders, transfers, refused claims, tokens used again and merges: the audit is clean, before and after a rebuild"
    )
    func audit() async throws {
        var counts: [String: Int] = [:]
        for engine in TestEngine.chosen {
            for seed in Self.first..<Self.first + Self.count {
                let history = ErasureHistory(seed: seed)
                for act in history.acts { counts[act.name, default: 0] += 1 }
                guard let fault = try await history.fault(of: history.acts, on: engine) else { continue }
                let (acts, least) = try await history.least(on: engine, fault)
                let text = acts.map { "\($0)" }.joined(separator: "\n")
                Issue.record("seed \(seed) on \(engine.rawValue), \(history.policy.rawValue): \(least)\n\(text)")
            }
        }
        let acts = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        print("erasures: seeds \(Self.first) to \(Self.first + Self.count - 1): \(acts)")
    }
}

/// A random history of a few customers who share originals and tokens. The acts are chosen beforehand, so that they can
/// be repeated without some of them.
struct ErasureHistory {
    let policy: TransferPolicy
    private(set) var acts: [Act] = []
    private var random: RandomStatements
    private var pieces: [Piece] = []
    private var orders: [(customer: String, product: String)] = []
    /// The seconds since the history began.
    private var time: Int64 = 0

    /// A signed transaction.
    struct Piece: CustomStringConvertible {
        var number: Int
        var transaction: String
        var original: String
        var product: String
        /// When it was bought, in seconds since the history began.
        var boughtAt: Int64
        var token: Int?
        /// The order whose token it carries, if it has no other.
        var order: Int?
        var isRefunded: Bool

        var description: String {
            "piece \(number): \(transaction) of \(original) bought at \(boughtAt)\(token.map { ", token \($0)" } ?? "")"
                + (order.map { ", token of order \($0)" } ?? "") + (isRefunded ? ", refunded" : "")
        }
    }

    enum Act {
        case wait(Int64)
        /// A claim that names a customer, an order, or both.
        case claim(Piece, customer: String?, order: Int?)
        case observe(Piece)
        case restore([Piece], String)
        case consume(Int64, String)
        case move(Piece, to: String)
        case merge(String, into: String)
        case assign(Int, to: String)
        case order(Int, of: String, product: String)
        case fulfil(Int)
        case cancel(Int)
        case close(Int)
        case revoke(Piece, of: String)
        case erase(String)

        var name: String { "\(self)".prefix { $0 != "(" }.description }
    }

    init(seed: UInt64) {
        random = RandomStatements(seed: seed)
        policy = seed % 2 == 0 ? .move : .deny
        for _ in 0..<random.pick([20, 40, 60]) {
            if let act = choose() { acts.append(act) }
            guard random.chance(60) else { continue }
            let seconds = Int64(random.pick([30, 600, 40_000, 12 * 86_400]))
            time += seconds
            acts.append(.wait(seconds))
        }
    }

    // MARK: Choosing

    private mutating func customer() -> String { "c\(random.pick([0, 1, 2, 3]))" }

    private mutating func choose() -> Act? {
        switch random.pick(Array(0...28)) {
        case 0...2: return .observe(piece())
        case 3...5: return .claim(piece(), customer: customer(), order: nil)
        case 6...9:
            guard !pieces.isEmpty else { return nil }
            return claim(random.pick(pieces))
        case 10...12:
            guard !orders.isEmpty else { return nil }
            return claim(piece())
        case 13:
            guard !pieces.isEmpty else { return nil }
            return .restore((0..<random.pick([1, 2, 3])).map { _ in random.pick(pieces) }, customer())
        case 14: return .consume(Int64(random.pick([1, 2])), customer())
        case 15...17: return pieces.isEmpty ? nil : .move(random.pick(Array(pieces.suffix(6))), to: customer())
        case 18: return .merge(customer(), into: customer())
        case 19, 20: return .assign(random.pick([0, 1]), to: customer())
        case 21, 22:
            let (name, product) = (customer(), random.pick([LedgerWorld.coins, LedgerWorld.pro, LedgerWorld.monthly]))
            orders.append((name, product))
            return .order(orders.count - 1, of: name, product: product)
        case 23:
            guard !orders.isEmpty else { return nil }
            let order = random.pick(Array(orders.indices))
            return random.pick([.fulfil(order), .fulfil(order), .cancel(order), .close(order)])
        case 24: return pieces.isEmpty ? nil : .revoke(random.pick(pieces), of: customer())
        default: return .erase(customer())
        }
    }

    /// A claim of one of the customers, often for an order: their own, that of somebody else, or without a name.
    private mutating func claim(_ piece: Piece) -> Act {
        guard !orders.isEmpty, random.chance(70) else { return .claim(piece, customer: customer(), order: nil) }
        let matching = orders.indices.filter { orders[$0].product == piece.product }
        let order = random.pick(matching.isEmpty ? Array(orders.indices) : matching)
        let name = random.chance(40) ? nil : random.chance(80) ? orders[order].customer : customer()
        return .claim(piece, customer: name, order: order)
    }

    /// A transaction of one of a few originals, or of a new one, bought about now.
    private mutating func piece() -> Piece {
        let isNew = random.chance(40)
        let (product, known) = random.pick([
            (LedgerWorld.coins, "1"), (LedgerWorld.coins, "2"), (LedgerWorld.pro, "3"), (LedgerWorld.monthly, "4"),
            (LedgerWorld.monthly, "4"), (LedgerWorld.pass, "5"), (LedgerWorld.pass, "6"),
        ])
        let original = isNew ? "7\(pieces.count)" : known
        let piece = Piece(
            number: pieces.count, transaction: original + (isNew ? "" : random.pick(["", "1", "2", "3"])),
            original: original, product: product, boughtAt: time - Int64(random.pick([5, 60, 86_400, 10 * 86_400])),
            token: random.chance(50) ? random.pick([0, 1]) : nil,
            order: orders.isEmpty || random.chance(40) ? nil : random.pick(Array(orders.indices)),
            isRefunded: random.chance(10))
        pieces.append(piece)
        return piece
    }

    // MARK: Happening

    /// What is wrong after some of the acts; `nil` for nothing.
    func fault(of acts: [Act], on engine: TestEngine) async throws -> String? {
        var fault: String?
        try await engine.withDatabase(mayBeMigrated: true) { open in
            let database = try open()
            do {
                var app = LedgerWorld.app()
                app.transfer = policy
                var run = ErasureRun(world: try await LedgerWorld(database, apps: [app]))
                fault = try await run.fault(of: acts)
            } catch {
                fault = "\(error)"
            }
            try await database.close()
        }
        return fault
    }

    /// The acts without those that a fault does not need.
    func least(on engine: TestEngine, _ found: String) async throws -> (acts: [Act], fault: String) {
        var (least, fault) = (acts, found)
        var length = max(1, least.count / 2)
        while true {
            var start = 0
            while start < least.count {
                var rest = least
                rest.removeSubrange(start..<min(start + length, least.count))
                if let found = try await self.fault(of: rest, on: engine) {
                    (least, fault) = (rest, found)
                } else {
                    start += length
                }
            }
            guard length > 1 else { return (least, fault) }
            length /= 2
        }
    }
}

/// One run of a history.
private struct ErasureRun {
    let world: LedgerWorld
    private let start: Date
    private var orders: [Int: UUID] = [:]
    private var orderTokens: [Int: UUID] = [:]
    private var observed: [ErasureHistory.Piece] = []
    /// When each transaction was bought or first seen, if that was earlier.
    private var since: [String: Int64] = [:]
    private var lastErasure: Int64?
    private var uses = 0

    init(world: LedgerWorld) {
        self.world = world
        world.clock.advance(days: 20)
        start = Date(timeIntervalSince1970: Double(world.clock.now.millisecondsSince1970 / 1000))
    }

    /// Performs the acts, then claims of somebody new, with an audit after about two thirds and at the end, and a
    /// rebuild of which the same is required.
    mutating func fault(of acts: [ErasureHistory.Act]) async throws -> String? {
        for (number, act) in acts.enumerated() {
            if let fault = try await happen(act) { return fault }
            if number == acts.count * 2 / 3, let fault = try await auditFault() { return fault }
        }
        for piece in observed {
            if let fault = try await happen(.claim(piece, customer: "newcomer", order: nil)) { return fault }
        }
        if let fault = try await auditFault() { return fault }
        guard TestEngine.ownsTables else { return nil }
        try await world.rebuilt()
        return nil
    }

    private mutating func see(_ pieces: [ErasureHistory.Piece]) {
        observed += pieces
        for piece in pieces {
            let earlier = since[piece.transaction] ?? .max
            since[piece.transaction] = min(earlier, piece.boughtAt, now)
        }
    }

    /// The seconds since the history began.
    private var now: Int64 { world.clock.now.millisecondsSince1970 / 1000 - Int64(start.timeIntervalSince1970) }

    private func auditFault() async throws -> String? {
        let findings = try await world.ledger.audit().findings
        return findings.isEmpty ? nil : findings.map { "\($0.kind) \($0.detail)" }.joined(separator: "\n")
    }

    /// Performs an act; a refused one changes nothing.
    private mutating func happen(_ act: ErasureHistory.Act) async throws -> String? {
        do {
            return try await perform(act)
        } catch let refusal as LedgerRefusal {
            guard case .assign(let token, _) = act, refusal.code == .tokenTaken, try await !isOfSomebody(token) else {
                return nil
            }
            return "\(act): the token is taken by nobody with a name"
        }
    }

    private mutating func perform(_ act: ErasureHistory.Act) async throws -> String? {
        let ledger = world.ledger
        switch act {
        case .wait(let seconds): world.clock.advance(seconds: seconds)
        case .claim(let piece, let customer, let number):
            let order = number.flatMap { orders[$0] }
            guard customer != nil || order != nil else { return nil }
            see([piece])
            let outcome = try await world.claim(
                piece.transaction, product: piece.product, customer: customer, order: order, try bytes(piece))
            if outcome.code == "purchase_erased", since[piece.transaction] ?? 0 > lastErasure ?? .min {
                return "\(act): purchase_erased, although it was bought after every erasure"
            }
        case .observe(let piece):
            see([piece])
            try await world.observe(try bytes(piece))
        case .restore(let pieces, let name):
            see(pieces)
            _ = try await ledger.restore(
                RestoreSubmission(app: "example", customerID: name, evidence: try pieces.map(bytes)))
        case .consume(let units, let name):
            uses += 1
            _ = try await world.consume(units, "use \(uses)", of: name)
        case .move(let piece, let name):
            _ = try await ledger.perform(
                MovePurchase(app: "example", transactionID: piece.transaction, to: name, reason: "random"))
        case .merge(let name, let target):
            try await ledger.perform(MergeCustomers(app: "example", customerID: name, into: target))
        case .assign(let token, let name):
            _ = try await ledger.perform(AssignToken(app: "example", customerID: name, token: Self.token(token)))
        case .order(let number, let name, let product):
            let order = try await world.order(name, product: product, quantity: product == LedgerWorld.coins ? 3 : 1)
            (orders[number], orderTokens[number]) = (order.id, order.appAccountToken)
        case .fulfil(let order):
            guard let id = orders[order] else { return nil }
            _ = try await ledger.perform(FulfilOrder(app: "example", orderID: id))
        case .cancel(let order):
            guard let id = orders[order] else { return nil }
            _ = try await ledger.perform(CancelOrder(app: "example", orderID: id))
        case .close(let order):
            guard let id = orders[order] else { return nil }
            _ = try await ledger.perform(CloseOrder(app: "example", orderID: id, reason: "random"))
        case .revoke(let piece, let name):
            _ = try await ledger.perform(
                RevokeByHand(
                    app: "example", customerID: name, .purchase(transactionID: piece.transaction, environment: nil),
                    reason: "random"))
        case .erase(let name):
            _ = try await ledger.perform(EraseCustomer(app: "example", customerID: name, reason: "random"))
            lastErasure = now
        }
        return nil
    }

    /// Whether a token belongs to a customer with a name.
    private func isOfSomebody(_ token: Int) async throws -> Bool {
        let id = Self.token(token).uuidString.lowercased()
        return try await !world.ledger.answer(CustomerSearch(app: "example", text: id, limit: 1)).isEmpty
    }

    private static func token(_ number: Int) -> UUID {
        UUID(uuid: (1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, UInt8(number)))
    }

    private func bytes(_ piece: ErasureHistory.Piece) throws -> [UInt8] {
        let date = start.addingTimeInterval(Double(piece.boughtAt))
        let token = piece.token.map(Self.token) ?? piece.order.flatMap { orderTokens[$0] }
        let kind: SignedTransactionTemplate.ProductType =
            switch piece.product {
            case LedgerWorld.coins: .consumable
            case LedgerWorld.pro: .nonConsumable
            case LedgerWorld.monthly: .autoRenewableSubscription
            default: .nonRenewingSubscription
            }
        return try LedgerWorld.signed(piece.transaction, product: piece.product, kind: kind) {
            $0.originalTransactionID = piece.original
            $0.quantity = kind == .consumable ? 3 : 1
            ($0.purchaseDate, $0.signedDate) = (date, date)
            $0.appAccountToken = token?.uuidString.lowercased()
            if kind == .autoRenewableSubscription { $0.expiresDate = date.addingTimeInterval(30 * 86_400) }
            if piece.isRefunded { ($0.revocationDate, $0.signedDate) = (date, date.addingTimeInterval(30)) }
        }
    }
}
