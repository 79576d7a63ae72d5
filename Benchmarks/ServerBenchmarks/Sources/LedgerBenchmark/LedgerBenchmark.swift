import EvidenceMint
import Foundation

/// Durable purchases per second beside the bare loop of the engine, in turns (Benchmarks/README.md).
///
///     ledger-benchmark [PURCHASES] [ROUNDS]
@main
enum LedgerBenchmark {
    static func main() async {
        do {
            let numbers = try CommandLine.arguments.dropFirst().map { argument in
                guard let number = Int(argument), number > 0 else {
                    throw BenchmarkError("usage: ledger-benchmark [PURCHASES] [ROUNDS]")
                }
                return number
            }
            try await report(purchases: numbers.first ?? 4000, rounds: numbers.dropFirst().first ?? 5)
        } catch {
            FileHandle.standardError.write(Data("ledger-benchmark: \(error)\n".utf8))
            exit(2)
        }
    }

    private static func report(purchases: Int, rounds: Int) async throws {
        let authority = try AppStoreAuthority()
        var bare: [Int: [Double]] = [:]
        var runs: [Row: [PurchaseRun.Result]] = [:]
        let evidence = try Claims.allCases.map { ($0, try $0.evidence(count: purchases, authority: authority)) }
        for _ in 0..<rounds {
            for rows in [1, 32] {
                bare[rows, default: []].append(
                    try await inFolder { try BareLoop(rowsPerCommit: rows).run(count: purchases, in: $0) })
            }
            for (claims, evidence) in evidence {
                for clients in [1, 32] {
                    let run = PurchaseRun(clients: clients, evidence: evidence, authority: authority)
                    runs[Row(claims: claims, clients: clients), default: []].append(
                        try await inFolder { try await run.run(in: $0) })
                }
            }
        }
        print(
            "| \(purchases) durable writes, median of \(rounds) rounds | per second | to the bare loop | a commit | bytes kept |"
        )
        print("|---|---:|---:|---:|---:|")
        for rows in [1, 32] {
            let rate = median(bare[rows] ?? [])
            print("| bare loop, a row of 60 bytes, \(rows) a commit | \(whole(rate)) | 1.00 | \(rows) | |")
        }
        for claims in Claims.allCases {
            for clients in [1, 32] {
                let results = runs[Row(claims: claims, clients: clients)] ?? []
                let rate = median(results.map(\.perSecond))
                let ratio = rate / median(bare[clients] ?? [])
                print(
                    "| \(claims.rawValue), \(clients) \(clients == 1 ? "client" : "clients") | \(whole(rate)) "
                        + "| \(String(format: "%.2f", ratio)) "
                        + "| \(String(format: "%.1f", median(results.map(\.purchasesPerCommit)))) "
                        + "| \(whole(median(results.map(\.bytesPerPurchase)))) |")
            }
        }
    }

    private struct Row: Hashable {
        let claims: Claims
        let clients: Int
    }

    private static func whole(_ number: Double) -> String { String(format: "%.0f", number) }

    private static func median(_ numbers: [Double]) -> Double {
        let sorted = numbers.sorted()
        return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
    }

    private static func inFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
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
