import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import SQLiteFloor

/// Compares a large database with a small one (Benchmarks/README.md): how long a reader waits, and the cost of a
/// purchase.
///
///     large-database FOLDER [PURCHASES] [ORDERS] [PURCHASES OF THE SMALL ONE]
///
/// Both are created in the folder by the ledger's own operations, once: an interrupted run continues where it ended.
/// With `ASSAY_LARGE_URL`, in which `%s` stands for `small` and `large`, it measures their copies in PostgreSQL.
@main
enum LargeDatabase {
    private static let smallPurchases = 10_000
    private static let fewest = 1_000
    private static let rounds = 5

    static func main() async {
        do {
            let arguments = CommandLine.arguments.dropFirst()
            let numbers = arguments.dropFirst().map { Int($0) ?? 0 }
            guard let folder = arguments.first, !numbers.contains(where: { $0 < fewest }) else {
                throw BenchmarkError(
                    "usage: large-database FOLDER [PURCHASES] [ORDERS] [SMALL], at least \(fewest) each")
            }
            let purchases = numbers.first ?? 5_000_000
            let orders = numbers.dropFirst().first ?? purchases * 4
            let small = numbers.dropFirst(2).first ?? smallPurchases
            try await compare(in: URL(fileURLWithPath: folder), small, Size(purchases: purchases, orders: orders))
        } catch {
            FileHandle.standardError.write(Data("large-database: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func compare(in folder: URL, _ small: Int, _ size: Size) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let authority = try AppStoreAuthority(folder: folder.appending(path: "authority"))
        let url = ProcessInfo.processInfo.environment["ASSAY_LARGE_URL"]
        var worlds: [FilledLedger] = []
        for (name, size) in [
            ("small", Size(purchases: small, orders: small * size.orders / size.purchases)),
            ("large", size),
        ] {
            let world = try await FilledLedger(
                folder.appending(path: "\(name).sqlite").path, copy: url?.replacing("%s", with: name), size, authority)
            if url == nil { try await world.fill() }
            worlds.append(world)
        }
        let (small, large) = (worlds[0], worlds[1])
        var table = ComparisonTable(small: try small.description(), large: try large.description())
        for question in Question.all {
            table.add(
                question.name, limit: 1.3,
                try await alternate(rounds, small, large) { world in try await question.microseconds(world) })
        }
        table.add(
            "a purchase, 64 clients", limit: 2,
            try await alternate(rounds, small, large) { world in try await world.purchaseMicroseconds(count: 2000) })
        print(table.markdown)
        if url == nil { for world in worlds { try await BareLoopComparison(world, rounds: rounds).print() } }
        for world in worlds { try await world.close() }
    }

    /// Measures both in turns, so that noise of the machine affects both.
    private static func alternate(
        _ rounds: Int, _ small: FilledLedger, _ large: FilledLedger, _ measure: (FilledLedger) async throws -> Double
    ) async throws -> (small: Double, large: Double) {
        var times: (small: [Double], large: [Double]) = ([], [])
        for _ in 0..<rounds {
            times.small.append(try await measure(small))
            times.large.append(try await measure(large))
        }
        return (times.small.sorted()[rounds / 2], times.large.sorted()[rounds / 2])
    }
}

/// The contents of a database.
struct Size {
    var purchases: Int
    var orders: Int
}

/// A query of clients.
struct Question {
    private static let count = 500

    let name: String
    private let ask: @Sendable (FilledLedger, Int) async throws -> Void

    static let all = [
        Question("entitlements of a customer") { world, number in
            let customer = world.customer(number)
            _ = try await world.answer(EntitlementsOfCustomer(app: FilledLedger.app, customerID: customer))
        },
        orders("orders, newest 50", nil, limit: 50),
        orders("open orders, 50", .created, limit: 50),
        orders("expired orders, 1", .expired, limit: 1),
        Question("orders of a customer") { world, number in
            _ = try await world.answer(
                OrderList(app: FilledLedger.app, customerID: world.customer(number), limit: 20))
        },
        submissions("submissions, newest 50", limit: 50) { _, _, _ in },
        submissions("submissions of a customer", limit: 10) { $0.customerID = $1.customer($2) },
        submissions("submissions of a transaction", limit: 10) { filter, world, number in
            filter.transactionID = world.transaction(number)
        },
        submissions("rejected submissions", limit: 50) { filter, _, _ in filter.verdict = .rejected },
        submissions("submissions of a code", limit: 50) { filter, _, _ in filter.code = "already_claimed" },
    ]

    private init(_ name: String, _ ask: @escaping @Sendable (FilledLedger, Int) async throws -> Void) {
        (self.name, self.ask) = (name, ask)
    }

    private static func orders(_ name: String, _ status: OrderStatus?, limit: Int) -> Question {
        Question(name) { world, _ in
            _ = try await world.answer(OrderList(app: FilledLedger.app, status: status, limit: limit))
        }
    }

    private static func submissions(
        _ name: String, limit: Int, _ change: @escaping @Sendable (inout SubmissionFilter, FilledLedger, Int) -> Void
    ) -> Question {
        Question(name) { world, number in
            var filter = SubmissionFilter()
            change(&filter, world, number)
            _ = try await world.answer(SubmissionList(app: FilledLedger.app, filter: filter, limit: limit))
        }
    }

    /// The median time of an answer.
    func microseconds(_ world: FilledLedger) async throws -> Double {
        var times: [Double] = []
        for number in 0..<Self.count {
            let start = ContinuousClock.now
            try await ask(world, number)
            times.append((ContinuousClock.now - start).seconds * 1_000_000)
        }
        return times.sorted()[times.count / 2]
    }
}

/// Times side by side, with their ratio and its limit.
struct ComparisonTable {
    private let small: String
    private let large: String
    private var rows: [String] = []

    init(small: String, large: String) { (self.small, self.large) = (small, large) }

    mutating func add(_ name: String, limit: Double, _ times: (small: Double, large: Double)) {
        let ratio = times.large / times.small
        let numbers = [times.small, times.large].map { String(format: "%.0f", $0) }
        rows.append(
            "| \(name) | \(numbers[0]) | \(numbers[1]) | \(String(format: "%.2f", ratio))\(ratio > limit ? " (too much)" : "") "
                + "| \(limit) |")
    }

    var markdown: String {
        """
        small: \(small); large: \(large)

        | µs, median of five rounds | small | large | ratio | at most |
        |---|---:|---:|---:|---:|
        \(rows.joined(separator: "\n"))
        """
    }
}

/// Compares purchases of a ledger with the bare loop, which writes the same rows into the same database of the same
/// size, in turns. The rows of the bare loop are deleted afterwards.
struct BareLoopComparison {
    private static let count = 5_000
    private static let prefix = UInt8(ascii: "9")

    private let world: FilledLedger
    private let rounds: Int

    init(_ world: FilledLedger, rounds: Int) { (self.world, self.rounds) = (world, rounds) }

    func print() async throws {
        var ratios: [Double] = []
        var lines: [String] = []
        for _ in 0..<rounds {
            let start = try PurchaseRows.Position(endOf: Connection(world.path))
            let ledger = 1_000_000 / (try await world.purchaseMicroseconds(count: Self.count))
            let database = try Connection(world.path)
            let purchases = try PurchaseRows.read(from: database, after: start).map {
                $0.shifted(by: Int64(Self.count), prefix: Self.prefix)
            }
            guard purchases.count == Self.count else { throw BenchmarkError("\(purchases.count) purchases were read") }
            let bare = try BareLoop(purchasesPerCommit: 32).run(purchases, path: world.path)
            try PurchaseRows.delete(purchases, from: database)
            ratios.append(ledger / bare.perSecond)
            lines.append(String(format: "%.0f/s beside %.0f/s (%.2f)", ledger, bare.perSecond, ledger / bare.perSecond))
        }
        Swift.print(
            "\(try world.description()): \(String(format: "%.2f", ratios.sorted()[rounds / 2])) of the bare loop, median of "
                + "\(rounds) rounds: \(lines.joined(separator: ", "))")
    }
}
