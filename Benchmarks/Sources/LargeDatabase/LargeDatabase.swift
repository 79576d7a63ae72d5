import EvidenceMint
import Foundation
import SQLiteFloor

/// Compares a large database with a small one (Benchmarks/README.md): how long a reader waits, and the cost of a
/// purchase.
///
///     large-database FOLDER [PURCHASES] [ORDERS] [PURCHASES OF THE SMALL ONE]
///
/// Both are created in the folder by the ledger's own operations, once: an interrupted run continues where it ended.
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
        var worlds: [FilledLedger] = []
        for (name, size) in [
            ("small", Size(purchases: small, orders: small * size.orders / size.purchases)),
            ("large", size),
        ] {
            let world = try await FilledLedger(folder.appending(path: "\(name).sqlite").path, size, authority)
            try await world.fill()
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
            "a purchase, 64 clients", limit: 2.5,
            try await alternate(rounds, small, large) { world in try await world.purchaseMicroseconds(count: 2000) })
        print(table.markdown)
        for world in worlds { try await BareLoopComparison(world, rounds: rounds).print() }
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
