import Foundation
import SQLiteFloor

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
