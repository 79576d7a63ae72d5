import EvidenceMint
import Foundation
import TestSupport
import Testing

/// `assay import --dry-run` as a process, on both engines.
@Suite("assay import --dry-run")
struct DryRunTests {
    private static let owners = 64
    private static let settings = """
        server:
          trust: [assay-authority/trust.pem]
        apps:
          game:
            bundle_ids: com.example.app
            products:
              coins: { kind: consumable }
        """
    private static let importing = "import --app game --consumables balance"

    /// A ledger in which 64 customers have a purchase each.
    private struct World {
        let folder: URL
        /// Names the database to each command.
        let environment: [String: String]
        /// The evidence of the 64 purchases, and then of eight that nobody has.
        let evidence: [String]
        /// The database, if it is one of PostgreSQL.
        let place: ThrowawayPostgreSQL.Database?

        func run(_ command: String, _ variables: [String: String] = [:]) async throws -> Program.Result {
            try await Program.shell(
                "assay \(command)", in: folder, environment: environment.merging(variables) { $1 })
        }

        func write(_ rows: [String], _ name: String) throws {
            let text = "customer_id,receipt_data\n" + rows.joined(separator: "\n") + "\n"
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }

        /// The rows of a query in a database of PostgreSQL, each as one line.
        func query(_ sql: String) async throws -> String {
            let place = try #require(place)
            let result = try await Program.shell(
                "\(place.server.programs)/psql -tA '\(place.url())' -c \"\(sql)\"", in: folder)
            try #require(result.status == 0, "\(result.output)")
            return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private static func onBothEngines(_ body: (World) async throws -> Void) async throws {
        try await inFolder(nil, body)
        try await onPostgreSQL(body)
    }

    private static func onPostgreSQL(_ body: (World) async throws -> Void) async throws {
        try await ThrowawayPostgreSQL.withDatabase { try await inFolder($0, body) }
    }

    private static func inFolder(
        _ place: ThrowawayPostgreSQL.Database?, _ body: (World) async throws -> Void
    ) async throws {
        try await Program.inTemporaryFolder { folder in
            try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let authority = try AppStoreAuthority(folder: folder.appending(path: "assay-authority"))
            let encoder = SignedPayloadEncoder(authority: authority)
            let evidence = try (0..<owners + 8).map { number in
                let purchase = PurchaseTemplate.consumable(
                    productID: "coins", transactionID: "\(1000 + number)", purchaseDate: MintedWorld.moment)
                var template = SignedTransactionTemplate(purchase: purchase, bundleID: "com.example.app")
                template.environment = "Production"
                return try encoder.encode(template)
            }
            let world = World(
                folder: folder, environment: ["ASSAY_DATABASE": place?.url() ?? "sqlite:assay.sqlite"],
                evidence: evidence, place: place)
            try await RunningServer.run("assay serve --port 0", in: folder, environment: world.environment) { _ in }
            try world.write((0..<owners).map { "owner \($0),\(evidence[$0])" }, "owners.csv")
            let owned = try await world.run("\(importing) owners.csv")
            try #require(owned.status == 0, "\(owned.output)")
            try await body(world)
        }
    }

    /// The lines of a report that do not name times or places.
    private static func report(_ output: String) -> [Substring] {
        output.split(separator: "\n").filter { !$0.contains("rows/s") && !$0.contains("database ") }
    }

    /// Rows of the purchases of 64 other customers, one by one and all in one receipt, beside new, damaged and repeated
    /// rows.
    private static func writeRows(_ world: World, times: Int = 1) async throws {
        let purchases = (0..<owners)
            .map { "--purchase product=coins,kind=consumable,transaction=\(1000 + $0)" }.joined(separator: " ")
        let minted = try await world.run(
            "mint --kind production --bundle-id com.example.app \(purchases) -o all.b64")
        try #require(minted.status == 0, "\(minted.output)")
        let receipt = try String(contentsOf: world.folder.appending(path: "all.b64"), encoding: .utf8)
            .replacing("\n", with: "")
        var rows = (0..<owners).map { "newcomer \($0),\(world.evidence[$0])" }
        rows += ["mallory,\(receipt)", "carol,forged"]
        rows += (owners..<owners + 8).map { "newcomer \($0),\(world.evidence[$0])" }
        rows += ["dora,\(world.evidence[owners])", "newcomer 64,\(world.evidence[owners])"]
        try world.write((0..<times).flatMap { _ in rows }, "rows.csv")
    }

    @Test("D.1 A dry run and the import report the same about the purchases of 64 other customers on both engines")
    func foreignOwners() async throws {
        try await Self.onBothEngines { world in
            try await Self.writeRows(world)
            let trial = try await world.run("\(Self.importing) --dry-run rows.csv")
            #expect(trial.status == 1 && trial.output.contains("nothing was written"), "\(trial.output)")
            let real = try await world.run("\(Self.importing) rows.csv")
            #expect(real.status == 1, "\(real.output)")
            #expect(Self.report(trial.output) == Self.report(real.output))
            #expect(real.output.contains(/rejected, already_claimed +66/), "\(real.output)")
            #expect(real.output.contains(/accepted +9\n/), "\(real.output)")
            let again = try await world.run("\(Self.importing) --dry-run rows.csv")
            let repeated = try await world.run("\(Self.importing) rows.csv")
            #expect(Self.report(again.output) == Self.report(repeated.output))
            let audit = try await world.run("audit verify --evidence")
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test("D.1 A dry run on PostgreSQL locks nothing of the ledger while it runs, and writes nothing to it")
    func locks() async throws {
        try await Self.onPostgreSQL { world in
            try await Self.writeRows(world, times: 6)
            let content = "SELECT (SELECT count(*) FROM evidence), (SELECT count(*) FROM transactions)"
            let before = try await world.query(content)
            let script = """
                mkfifo rows; { cat rows.csv; while ! test -e go; do sleep 0.1; done; } > rows &
                assay \(Self.importing) --dry-run --jobs 1 - < rows > report 2>&1; touch ended
                """
            _ = try await Program.shell(
                "(\(script)) > /dev/null 2>&1 &", in: world.folder, environment: world.environment)
            try await RecordCommandTests.wait {
                // There is no file before the program starts.
                let report = try? String(contentsOf: world.folder.appending(path: "report"), encoding: .utf8)
                return report?.contains("already_claimed") ?? false
            }
            // A migration needs this lock. A row of the ledger can be changed as well.
            let locked = try await world.query(
                "SET lock_timeout = 1000; BEGIN; LOCK TABLE journal, evidence, customers IN ACCESS EXCLUSIVE MODE; ROLLBACK"
            )
            #expect(locked.hasSuffix("ROLLBACK"))
            let advisory = """
                SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database \
                WHERE locktype = 'advisory' AND datname = current_database()
                """
            #expect(try await world.query(advisory) == "0")
            _ = try await Program.shell("touch go", in: world.folder)
            try await RecordCommandTests.wait {
                FileManager.default.fileExists(atPath: world.folder.appending(path: "ended").path)
            }
            #expect(try await world.query(content) == before)
        }
    }
}
