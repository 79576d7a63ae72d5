import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// A ledger that a release with the first rules wrote (`Fixtures/LedgerOfRules1`): orders, a copied receipt, restores, a refund, the
/// sandbox, keys, testers, grants, tokens, a merge, a transfer, an erasure, imports, and the setting `require_account_token: true`.
@Suite("G A ledger of the first rules")
struct UpgradeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures/LedgerOfRules1")

    @Test(
        "G A journal of the first rules migrates, lists each difference as corrected, and is audited clean",
        .enabled(if: TestEngine.ownsTables))
    func upgrade() async throws {
        try await with { database, ledger, checkpoint in
            let before = try await Self.entitlements(database)
            let report = try #require(try await ledger.applyNewRules())
            #expect(report.findings.filter { !$0.kind.isOfTables } == [])
            let after = try await Self.entitlements(database)
            let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
            #expect(try await Self.corrected(database) == changed)
            #expect(try await ledger.audit().findings == [])
            #expect(try await ledger.audit(isVerifyingEvidence: false).findings == [])
            #expect(try await ledger.auditLog([checkpoint]).findings == [])
            #expect(try await ledger.applyNewRules() == nil)
        }
    }

    @Test(
        "G The first start of a newer version records its settings, applies its rules, and is audited clean",
        .enabled(if: TestEngine.ownsTables))
    func firstStart() async throws {
        try await with { _, ledger, checkpoint in
            var app = RegisteredApp(id: "game", bundleIDs: ["com.example.game"])
            app.products = [
                "coins": RegisteredProduct(kind: .consumable),
                "pro": RegisteredProduct(kind: .nonConsumable, entitlements: ["pro"]),
                "monthly": RegisteredProduct(kind: .autoRenewable, entitlements: ["pro"]),
                "pass": RegisteredProduct(kind: .nonRenewing, duration: PassDuration("1mo")),
            ]
            app.requiresSignedTransaction = true
            let started = try await ledger.underSettings(
                apps: [app], verifier: PurchaseVerifier(anchors: try Self.anchors()))
            #expect(try await started.applyNewRules()?.findings.filter { !$0.kind.isOfTables } == [])
            _ = try await LogSealing(ledger: started, signer: nil).seal()
            #expect(try await started.audit().findings == [])
            #expect(try await started.auditLog([checkpoint]).findings == [])
        }
    }

    @Test(
        "G A recorded require_account_token: true of the first rules is read as require_signed_transaction: true",
        .enabled(if: TestEngine.ownsTables))
    func recordedSetting() async throws {
        try await with { _, ledger, _ in
            _ = try await ledger.applyNewRules()
            func code(_ transaction: String, _ evidence: [UInt8]) async throws -> String {
                var submission = PurchaseSubmission(app: "game")
                submission.claim.transactionID = transaction
                submission.claim.productID = "coins"
                submission.claim.customerID = "alice"
                submission.evidence = evidence
                return try await ledger.submit(submission).code
            }
            var template = MintedWorld.receipt()
            template.bundleID = "com.example.game"
            template.purchases = [
                .consumable(productID: "coins", transactionID: "1001", purchaseDate: MintedWorld.moment, quantity: 1)
            ]
            let receipt = Array(Data(try MintedWorld.mint(template)).base64EncodedString().utf8)
            #expect(try await code("1001", receipt) == "signed_transaction_needed")
            let signed = try LedgerWorld.signed("1002", product: "coins") { $0.bundleID = "com.example.game" }
            #expect(try await code("1002", signed) == "accepted")
            #expect(try await ledger.audit().findings == [])
        }
    }

    @Test(
        "A.1 Under the first rules, already_claimed needs an earlier claim as well, although no decision is compared",
        .enabled(if: TestEngine.ownsTables))
    func copiedReceipt() async throws {
        try await with { database, ledger, checkpoint in
            _ = try await ledger.applyNewRules()
            let claims = try await Self.integers(
                database,
                """
                SELECT entry_key FROM journal WHERE kind = 3 AND evidence_key = (
                    SELECT evidence_key FROM journal WHERE kind = 3 AND code = 'already_claimed'
                    ORDER BY entry_key LIMIT 1)
                ORDER BY entry_key LIMIT 2
                """)
            // The log keeps its entries' numbers, so these two change their leaves.
            try await OrderedWorld.swapEverywhere(claims[0], claims[1], besides: ["log_entries"], database)
            let kinds = try await ledger.audit().findings.map(\.kind)
            #expect(kinds.contains(.entryImpossible) && !kinds.contains(.decisionDiffers), "\(kinds)")
            #expect(try await ledger.auditLog([checkpoint]).findings.map(\.kind).contains(.recordRewritten))
        }
    }

    @Test(
        "A.1 Near leaves that the sealer of the first rules exchanged on PostgreSQL keep the order of their numbers and times",
        .enabled(if: TestEngine.ownsTables))
    func oldSealer() async throws {
        try await with { database, ledger, _ in
            let entries = try await Self.integers(
                database, "SELECT entry_key FROM log_entries ORDER BY leaf LIMIT 30"
            ).suffix(8)
            // Each pair of near leaves, as if the sealer had read the second one first.
            for (left, right) in zip(entries, entries.dropFirst(3)) {
                try await OrderedWorld.swapLeaves(left, right, database)
                let kinds = try await ledger.audit().findings.map(\.kind)
                #expect(kinds.contains(.orderDiffers) == database.dialect.hasOneWriter, "\(kinds)")
                try await OrderedWorld.swapLeaves(left, right, database)
            }
        }
    }

    private static func integers(_ database: any LedgerDatabase, _ sql: String) async throws -> [Int64] {
        try await database.read(.lists) { connection in
            try connection.rows(sql, []).compactMap { row in
                if case .integer(let number)? = row.values.first { number } else { nil }
            }
        }
    }

    // MARK: The fixture

    /// Calls the body with the migrated ledger of each engine and its last checkpoint.
    private func with(
        _ body: (any LedgerDatabase, PurchaseLedger, Checkpoint) async throws -> Void
    ) async throws {
        for engine in TestEngine.chosen {
            try await TemporaryFolder.with { folder in
                switch engine {
                case .sqlite:
                    let file = folder.appending(path: "assay.sqlite").path
                    try await Self.run(
                        "/bin/sh",
                        ["-c", "gzip -dc \"$0\" > \"$1\"", Self.folder.appending(path: "sqlite/ledger.gz").path, file])
                    try await with(engine, try SQLiteDatabase(path: file), folder, body)
                case .postgresql, .postgresqlServerRole:
                    try await ThrowawayPostgreSQL.withDatabase { place in
                        try await Self.run(
                            "\(place.server.programs)/psql",
                            [
                                "-q", "-v", "ON_ERROR_STOP=1", "-h", place.server.folder, "-p", "\(place.server.port)",
                                "-U",
                                "assay", "-o", "/dev/null", "-f",
                                Self.folder.appending(path: "postgresql/ledger.sql").path,
                                place.name,
                            ])
                        try await with(engine, try PostgreSQLDatabase(url: place.url()), folder, body)
                    }
                }
            }
        }
    }

    private func with(
        _ engine: TestEngine, _ database: any LedgerDatabase, _ folder: URL,
        _ body: (any LedgerDatabase, PurchaseLedger, Checkpoint) async throws -> Void
    ) async throws {
        do {
            let files = Self.folder.appending(path: engine.rawValue)
            let key = folder.appending(path: "entries.key").path
            // Git does not keep the mode that a key must have.
            #expect(
                FileManager.default.createFile(
                    atPath: key, contents: try Data(contentsOf: files.appending(path: "entries.key")),
                    attributes: [.posixPermissions: 0o600]))
            let verifier = try LogVerifierKey(
                text: [UInt8](try Data(contentsOf: files.appending(path: "log.pub"))).filter { $0 != 0x0A })
            let note = [UInt8](try Data(contentsOf: files.appending(path: "checkpoint")))
            try await LedgerMigrations.migrate(database, now: 0)
            let clock = Timestamp(millisecondsSince1970: 1_795_500_000_000)
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: try Self.anchors()),
                entryKey: try EntryKey(file: key), clock: { clock })
            try await body(database, ledger, try SignedCheckpoint(note: note, keys: [verifier]).checkpoint)
        } catch {
            Issue.record("on \(engine.rawValue): \(error)")
        }
        try await database.close()
    }

    private static func run(_ program: String, _ arguments: [String]) async throws {
        let (status, output) = try await ThrowawayPostgreSQL.run(program, arguments)
        try #require(status == 0, "\(program): \(output)")
    }

    /// The anchors of the fixture, and those of the tests.
    private static func anchors() throws -> [TrustAnchor] {
        let text = try String(contentsOf: folder.appending(path: "trust.pem"), encoding: .utf8)
        var anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        for part in text.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst() {
            let base64 = part.components(separatedBy: "-----END").first ?? ""
            let certificate = try #require(Data(base64Encoded: base64, options: .ignoreUnknownCharacters))
            anchors.append(try TrustAnchor(certificate: [UInt8](certificate)))
        }
        return anchors
    }

    // MARK: Differences

    /// A customer, a product and an environment.
    private typealias Subject = [LedgerValue]

    /// The entitlements of each subject.
    private static func entitlements(_ database: any LedgerDatabase) async throws -> [Subject: Set<[LedgerValue]>] {
        try await database.read(.lists) { connection in
            var entitlements: [Subject: Set<[LedgerValue]>] = [:]
            for row in try connection.rows(
                """
                SELECT customer_key, product_key, environment, ground, kind, balance, shortfall, timeline, reason
                FROM entitlements
                """, [])
            {
                entitlements[Array(row.values.prefix(3)), default: []].insert(row.values)
            }
            return entitlements
        }
    }

    /// The subjects of the events `corrected`.
    private static func corrected(_ database: any LedgerDatabase) async throws -> Set<Subject> {
        try await database.read(.lists) { connection in
            Set(
                try connection.rows(
                    "SELECT customer_key, product_key, environment FROM events WHERE type = 'corrected'", []
                ).map(\.values))
        }
    }
}
