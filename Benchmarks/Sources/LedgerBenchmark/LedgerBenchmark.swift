import EvidenceMint
import Foundation
import PurchaseLedger
import SQLiteFloor

/// Durable purchases per second beside the bare loop of the engine, in turns (Benchmarks/README.md).
///
///     ledger-benchmark [PURCHASES] [ROUNDS]
///     ledger-benchmark --profile signed|receipts PURCHASES
///     ledger-benchmark --postgresql SOCKET_FOLDER PORT PURCHASES ROUNDS
///     ledger-benchmark --merge ORIGINALS [SOCKET_FOLDER PORT]
@main
enum LedgerBenchmark {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            switch arguments.first {
            case "--profile":
                guard arguments.count == 3 else { throw usage }
                try await profile(
                    arguments[1] == "signed" ? .signedTransactions : .appReceipts, try number(arguments[2]))
            case "--postgresql":
                guard arguments.count == 5 else { throw usage }
                try await PostgreSQLReport(
                    folder: arguments[1], port: try number(arguments[2]), purchases: try number(arguments[3]),
                    rounds: try number(arguments[4])
                ).print()
            case "--merge":
                guard [2, 4].contains(arguments.count) else { throw usage }
                let server = arguments.count == 4 ? (folder: arguments[2], port: try number(arguments[3])) : nil
                let report = MergeReport(originals: try number(arguments[1]), postgresql: server)
                try await inFolder { try await report.print(in: $0) }
            default:
                let numbers = try arguments.map(number)
                try await report(purchases: numbers.first ?? 20_000, rounds: numbers.dropFirst().first ?? 5)
            }
        } catch {
            FileHandle.standardError.write(Data("ledger-benchmark: \(error)\n".utf8))
            exit(2)
        }
    }

    private static let usage = BenchmarkError(
        "usage: ledger-benchmark [PURCHASES] [ROUNDS] | --profile signed|receipts PURCHASES | "
            + "--postgresql SOCKET_FOLDER PORT PURCHASES ROUNDS | --merge ORIGINALS [SOCKET_FOLDER PORT]"
    )

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw usage }
        return number
    }

    private struct Round {
        let ledger: SQLiteRun
        let unauthenticated: SQLiteRun
        let single: SQLiteRun
        let bare: BareLoop.Result
    }

    private static func report(purchases: Int, rounds: Int) async throws {
        let authority = try AppStoreAuthority()
        print(
            "\(purchases) purchases in an empty file, median of \(rounds) rounds. Writer figures are for each purchase.\n"
        )
        print(
            "| | per second | to the bare loop | processor time of the writer, µs | statements | pages | purchases a commit "
                + "| bytes kept | p50, ms | p99 | p99.9 |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        for claims in Claims.allCases {
            let evidence = try claims.evidence(count: purchases, authority: authority)
            let few = Array(evidence.prefix(max(1, purchases / 10)))
            var results: [Round] = []
            for _ in 0..<rounds {
                results.append(
                    try await inFolder { folder in
                        let path = folder.appending(path: "ledger.sqlite").path
                        let run = PurchaseRun(clients: 64, evidence: evidence, authority: authority)
                        return Round(
                            ledger: try await SQLiteRun(run, path: path),
                            unauthenticated: try await SQLiteRun(
                                run, path: folder.appending(path: "plain.sqlite").path, isAuthenticated: false),
                            single: try await SQLiteRun(
                                PurchaseRun(clients: 1, evidence: few, authority: authority),
                                path: folder.appending(path: "single.sqlite").path),
                            bare: try await bareLoop(
                                path, folder.appending(path: "bare.sqlite").path, authority: authority))
                    })
            }
            let bare = median(results.map(\.bare.perSecond))
            print(
                "| \(claims.rawValue): bare loop, 32 a commit | \(text(bare, 0)) | 1.00 "
                    + "| \(text(median(results.map { $0.bare.processorTime * 1e6 }), 1)) | "
                    + "| \(text(median(results.map(\.bare.pages)), 1)) | 32 | | | | |")
            for (name, path) in [
                ("ledger, 64 clients", \Round.ledger),
                ("ledger, 64 clients, entries without a code", \.unauthenticated),
                ("ledger, 1 client", \.single),
            ] {
                printRow(
                    "\(claims.rawValue): \(name)", results.map { $0[keyPath: path] }, results.map(\.bare.perSecond))
            }
        }
    }

    /// Writes the rows of a ledger into a new file.
    private static func bareLoop(_ ledger: String, _ path: String, authority: AppStoreAuthority) async throws
        -> BareLoop.Result
    {
        try await SQLiteRun.open(path, authority).ledger.close()
        let purchases = try PurchaseRows.read(from: Connection(ledger), after: .start)
        return try BareLoop(purchasesPerCommit: 32).run(purchases, path: path)
    }

    private static func printRow(_ name: String, _ results: [SQLiteRun], _ bare: [Double]) {
        func middle(_ value: (SQLiteRun) -> Double) -> Double { median(results.map(value)) }
        let ratio = median(zip(results, bare).map { $0.result.perSecond / $1 })
        let writes = { (run: SQLiteRun) in Double(max(1, run.figures.writes)) }
        let columns = [
            text(middle(\.result.perSecond), 0), text(ratio, 2),
            text(middle { $0.figures.processorTime * 1e6 / writes($0) }, 1),
            text(middle { Double($0.figures.statements) / writes($0) }, 1),
            text(middle { Double($0.figures.pages) / writes($0) }, 1),
            text(middle { writes($0) / Double(max(1, $0.figures.transactions)) }, 1),
            text(middle(\.bytesPerPurchase), 0), text(middle { $0.result.latency(0.5) * 1000 }, 2),
            text(middle { $0.result.latency(0.99) * 1000 }, 2), text(middle { $0.result.latency(0.999) * 1000 }, 2),
        ]
        print("| \(name) | \(columns.joined(separator: " | ")) |")
    }

    /// One run, for a profiler.
    private static func profile(_ claims: Claims, _ count: Int) async throws {
        let authority = try AppStoreAuthority()
        let evidence = try claims.evidence(count: count, authority: authority)
        let result = try await inFolder { folder in
            try await SQLiteRun(
                PurchaseRun(clients: 64, evidence: evidence, authority: authority),
                path: folder.appending(path: "ledger.sqlite").path)
        }
        printRow(claims.rawValue, [result], [.nan])
    }

    private static func text(_ number: Double, _ digits: Int) -> String { String(format: "%.\(digits)f", number) }

    private static func median(_ numbers: [Double]) -> Double {
        let sorted = numbers.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }

    nonisolated(nonsending) private static func inFolder<Value>(
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-ledger-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let value: Value
        do {
            value = try await body(folder)
        } catch {
            try FileManager.default.removeItem(at: folder)
            throw error
        }
        try FileManager.default.removeItem(at: folder)
        return value
    }
}
