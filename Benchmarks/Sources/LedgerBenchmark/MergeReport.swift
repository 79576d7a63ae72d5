import EvidenceMint
import Foundation
import PurchaseLedger

/// Prints how long claims wait during a merge, on SQLite and, if a server is named, on PostgreSQL.
struct MergeReport {
    let originals: Int
    /// The folder of the socket of a PostgreSQL, and its port.
    let postgresql: (folder: String, port: Int)?

    func print(in folder: URL) async throws {
        let run = MergeRun(originals: originals, authority: try AppStoreAuthority())
        Swift.print("A customer with \(originals) originals is merged, while four customers buy.\n")
        Swift.print(
            "| | merge, s | claims | longest claim of the two customers, ms | p99 | longest claim of others, ms | p99 |"
        )
        Swift.print("|---|---:|---:|---:|---:|---:|---:|")
        let opened = try await PurchaseRun.open(
            folder.appending(path: "ledger.sqlite").path, authority: run.authority, isAuthenticated: true)
        printRow("SQLite", try await run.run(opened.ledger, opened.database))
        try await opened.ledger.close()
        guard let postgresql else { return }
        let place = "host=\(postgresql.folder)&port=\(postgresql.port)&user=assay"
        let client = try PostgreSQLClient("postgres:///postgres?\(place)")
        try client.execute("DROP DATABASE IF EXISTS assay_merge WITH (FORCE)")
        try client.execute("CREATE DATABASE assay_merge TEMPLATE template0 ENCODING 'UTF8'")
        let key = try EntryKey.openOrCreate(at: folder.appending(path: "assay-entries.key").path)
        let server = try await PostgreSQLRun.open(
            "postgres:///assay_merge?\(place)", authority: run.authority, key: key)
        printRow("PostgreSQL", try await run.run(server.ledger, server.database))
        try await server.ledger.close()
    }

    private func printRow(_ name: String, _ result: MergeRun.Result) {
        let columns = [
            String(format: "%.1f", result.seconds), "\(result.own.count + result.others.count)",
            Self.milliseconds(result.own.last), Self.milliseconds(Self.late(result.own)),
            Self.milliseconds(result.others.last), Self.milliseconds(Self.late(result.others)),
        ]
        Swift.print("| \(name) | \(columns.joined(separator: " | ")) |")
    }

    private static func late(_ times: [Double]) -> Double? { times.dropLast(times.count / 100).last }

    private static func milliseconds(_ seconds: Double?) -> String { String(format: "%.1f", (seconds ?? .nan) * 1000) }
}
