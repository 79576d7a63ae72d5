import EvidenceMint
import Foundation
import PurchaseLedger

/// Purchases on a PostgreSQL server beside a bare loop, with one customer for all, and with a delay of 2 ms.
struct PostgreSQLReport {
    /// The folder of the server's socket.
    let folder: String
    let port: Int
    let purchases: Int
    let rounds: Int

    private struct Row {
        let name: String
        var perSecond: [Double] = []
        var ratio: [Double] = []
        var processorTime: [Double] = []
        var serverTime: [Double] = []
        var statements: [Double] = []
        var roundTrips: [Double] = []
        var purchases: [Double] = []
        var half: [Double] = []
        var most: [Double] = []

        init(_ name: String) { self.name = name }

        mutating func add(_ run: PostgreSQLRun, to reference: Double, server: Double) {
            let (result, figures) = (run.result, run.figures)
            serverTime.append(server * 1e6 / Double(max(1, result.latencies.count)))
            perSecond.append(result.perSecond)
            ratio.append(result.perSecond / reference)
            processorTime.append(result.processorTime * 1e6)
            statements.append(Double(figures.statements) / Double(max(1, figures.writes)))
            roundTrips.append(Double(figures.roundTrips) / Double(max(1, figures.transactions)))
            purchases.append(Double(figures.writes) / Double(max(1, figures.transactions)))
            half.append(result.latency(0.5) * 1000)
            most.append(result.latency(0.99) * 1000)
        }
    }

    func print() async throws {
        let authority = try AppStoreAuthority()
        let place = FileManager.default.temporaryDirectory.appending(
            path: "assay-postgresql-bench-\(UUID().uuidString).key")
        let key = try EntryKey.openOrCreate(at: place.path)
        Swift.print(
            "\(purchases) purchases in an empty database, 64 clients of each server, median of \(rounds) rounds. Database and "
                + "servers share \(ProcessInfo.processInfo.activeProcessorCount) processors.\n")
        Swift.print(
            "| | per second | ratio | processor time of the client, µs | of PostgreSQL | statements a purchase | round trips a transaction "
                + "| purchases a transaction | p50, ms | p99 |")
        Swift.print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        for claims in Claims.allCases {
            let evidence = try claims.evidence(count: purchases, authority: authority)
            var rows = [
                "bare loop, 32 a transaction, 4 connections", "one server", "one customer for all",
                "one server, 2 ms more a round trip (to one without)", "two servers, 2 ms (to one)",
                "two servers without (to one)",
            ].map { Row("\(claims.rawValue): \($0)") }
            for _ in 0..<rounds {
                let run = PurchaseRun(clients: 64, evidence: evidence, authority: authority)
                var hot = PurchaseRun(
                    clients: 64, evidence: Array(evidence.prefix(max(64, purchases / 10))), authority: authority)
                hot.isHotSpot = true
                let plain = try await database("assay_ledger")
                let (one, oneTime) = try await timed { try await PostgreSQLRun(run, plain, key: key) }
                let bareURL = try await database("assay_bare")
                try await PostgreSQLRun.open(bareURL, authority, key).ledger.close()
                let (bare, bareTime) = try await timed {
                    try PostgreSQLBareLoop(purchasesPerTransaction: 32, connections: 4).run(rowsOf: plain, in: bareURL)
                }
                rows[0].perSecond.append(bare.perSecond)
                rows[0].ratio.append(1)
                rows[0].processorTime.append(bare.processorTime * 1e6)
                rows[0].serverTime.append(bareTime * 1e6 / Double(evidence.count))
                rows[0].statements.append(bare.statements)
                rows[1].add(one, to: bare.perSecond, server: oneTime)
                func add(
                    _ row: Int, _ run: PurchaseRun, servers: Int = 1, port: Int? = nil, to reference: Double
                ) async throws -> Double {
                    let url = try await database("assay_ledger", port: port)
                    let (made, time) = try await timed { try await PostgreSQLRun(run, url, servers: servers, key: key) }
                    rows[row].add(made, to: reference, server: time)
                    return made.result.perSecond
                }
                let near = one.result.perSecond
                _ = try await add(2, hot, to: near)
                let proxy = try DelayProxy(to: port, delay: .milliseconds(2))
                let far = try await add(3, run, port: proxy.port, to: near)
                _ = try await add(4, run, servers: 2, port: proxy.port, to: far)
                proxy.close()
                _ = try await add(5, run, servers: 2, to: near)
            }
            for row in rows { write(row) }
        }
        try FileManager.default.removeItem(at: place)
    }

    /// The processor time of PostgreSQL for a body, in seconds. It includes the work of its other processes in that
    /// time.
    private func timed<Value>(_ body: () async throws -> Value) async throws -> (Value, Double) {
        let before = try serverTime()
        let value = try await body()
        return (value, try serverTime() - before)
    }

    /// The processor time that PostgreSQL's processes have used (`/proc/PID/stat`, proc(5)), including those that have
    /// ended.
    private func serverTime() throws -> Double {
        let first =
            try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
            .split(separator: "\n").first.map(String.init) ?? ""
        var ticks = 0
        for process in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int(process) != nil {
            // The process may have ended since.
            guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let end = stat.lastIndex(of: ")")
            else { continue }
            let fields = stat[end...].split(separator: " ")
            guard fields.count > 15, process == first || fields[2] == first else { continue }
            ticks += (process == first ? 12...15 : 12...13).reduce(0) { $0 + (Int(fields[$1]) ?? 0) }
        }
        return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private func write(_ row: Row) {
        func text(_ numbers: [Double], _ digits: Int) -> String {
            numbers.isEmpty ? "" : String(format: "%.\(digits)f", numbers.sorted()[numbers.count / 2])
        }
        let columns = [
            text(row.perSecond, 0), text(row.ratio, 2), text(row.processorTime, 0), text(row.serverTime, 0),
            text(row.statements, 1),
            text(row.roundTrips, 2), text(row.purchases, 1), text(row.half, 2), text(row.most, 2),
        ]
        Swift.print("| \(row.name) | \(columns.joined(separator: " | ")) |")
    }

    /// An empty database, through the socket or a proxy.
    private func database(_ name: String, port proxy: Int? = nil) async throws -> String {
        let client = try PostgreSQLClient("postgres:///postgres?host=\(folder)&port=\(port)&user=assay")
        try client.execute("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        try client.execute("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8'")
        try client.execute("CHECKPOINT")
        guard let proxy else { return "postgres:///\(name)?host=\(folder)&port=\(port)&user=assay" }
        return "postgres://assay@127.0.0.1:\(proxy)/\(name)?sslmode=disable&gssencmode=disable"
    }
}
