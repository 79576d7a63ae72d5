import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Ledgers that releases with older rules wrote. `Fixtures/LedgerOfRules1` has orders, a copied receipt, restores, a
/// refund, the sandbox, keys, testers, grants, tokens, a merge, a transfer, an erasure, imports, and the setting
/// `require_account_token: true`.
@Suite("G Ledgers of older rules")
struct UpgradeTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
        path: "Fixtures")
    private static let folder = fixtures.appending(path: "LedgerOfRules1")

    @Test(
        "G A journal of older rules migrates, lists each difference as corrected, and is audited clean",
        .enabled(if: TestEngine.ownsTables), arguments: ["LedgerOfRules1", "LedgerOfRules2"])
    func upgrade(fixture: String) async throws {
        try await with(Self.fixtures.appending(path: fixture)) { database, ledger, checkpoint in
            let (before, answersBefore) = (
                try await Self.entitlements(database), try await Self.answers(ledger, database)
            )
            let report = try #require(try await ledger.applyNewRules())
            #expect(report.findings.filter { !$0.kind.isOfTables } == [])
            let (after, answersAfter) = (
                try await Self.entitlements(database), try await Self.answers(ledger, database)
            )
            // Rows that only have another form are not corrected.
            let rows = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
            let answers = Set(answersBefore.keys).union(answersAfter.keys).filter {
                answersBefore[$0] != answersAfter[$0]
            }
            let balances = rows.filter { Self.balances(before[$0]) != Self.balances(after[$0]) }
            let changed = answers.union(balances)
            let corrected = try await Self.corrected(database)
            #expect(!corrected.isEmpty && corrected.isSubset(of: rows))
            // The second rules already answered for the first ledger what the third do.
            #expect(!changed.isEmpty || fixture == "LedgerOfRules1")
            for subject in changed.subtracting(corrected) {
                let (former, new) = (answersBefore[subject] ?? [], answersAfter[subject] ?? [])
                let different = zip(former, new).first { $0 != $1 }
                Issue.record(
                    "\(subject) is not listed: \(former.count) and \(new.count) answers, \(String(describing: different))"
                )
            }
            #expect(corrected.count < rows.count)
            #expect(try await ledger.audit().findings == [])
            #expect(try await ledger.audit(isVerifyingEvidence: false).findings == [])
            #expect(try await ledger.auditLog(checkpoint.map { [$0] } ?? []).findings == [])
            #expect(try await ledger.applyNewRules() == nil)
        }
    }

    @Test(
        "33.1 The third rules correct what the second answered: a retry without end, an upgrade taken back, a share that ended",
        .enabled(if: TestEngine.ownsTables))
    func thirdRules() async throws {
        try await with(Self.fixtures.appending(path: "LedgerOfRules2")) { _, ledger, _ in
            _ = try await ledger.applyNewRules()
            let start = Timestamp(
                millisecondsSince1970: Int64(MintedWorld.moment.timeIntervalSince1970 * 1000) + 3_600_000)
            func entitlement(_ customer: String, _ product: String, day: Int64) async throws -> Entitlement? {
                let moment = Timestamp(millisecondsSince1970: start.millisecondsSince1970 + day * 86_400_000)
                return try await ledger.answer(
                    EntitlementsOfCustomer(app: "example", customerID: customer, at: moment)
                ).entitlements.first { $0.productID == product }
            }
            let (monthly, yearly) = (LedgerWorld.monthly, LedgerWorld.yearly)
            #expect(try await entitlement("alice", monthly, day: 33)?.reason == .inGrace)
            #expect(try await entitlement("alice", monthly, day: 33)?.state == .active)
            #expect(try await entitlement("alice", monthly, day: 40)?.state == .active)
            // Bob's retry ended after 60 days; the renewal of carol, into whom he was merged, had been turned off.
            #expect(try await entitlement("carol", monthly, day: 31)?.reason != nil)
            #expect(try await entitlement("carol", monthly, day: 91)?.reason == .expired)
            #expect(try await entitlement("dave", monthly, day: 30)?.state == .active)
            #expect(try await entitlement("dave", yearly, day: 30)?.reason == .revoked)
            #expect(try await entitlement("erin", monthly, day: 10)?.reason == .familyRevoked)
        }
    }

    @Test(
        "28.2 A ledger of the third rules keeps its events renewal_changed, gets new ones by the fourth, and is audited clean",
        .enabled(if: TestEngine.ownsTables))
    func fourthRules() async throws {
        try await with(Self.fixtures.appending(path: "LedgerOfRules3")) { _, ledger, _ in
            let query = EventList(app: "example", limit: 1000)
            let before = try await ledger.answer(query)
            #expect(before.contains { $0.type == "renewal_changed" && $0.content.changed == nil })
            let report = try #require(try await ledger.applyNewRules())
            #expect(report.findings.filter { !$0.kind.isOfTables } == [])
            #expect(try await ledger.audit().findings == [])
            #expect(try await ledger.audit(isVerifyingEvidence: false).findings == [])
            #expect(try await ledger.auditLog([]).findings == [])
            #expect(try await ledger.applyNewRules() == nil)
            let after = try await ledger.answer(query)
            #expect(Array(after.prefix(before.count)) == before)
            // Dave's subscription was signed as revoked by a status alone.
            let corrected = after.dropFirst(before.count)
            #expect(corrected.map(\.type) == ["corrected"] && corrected.first?.content.customerID == "dave")
            let dave = EntitlementsOfCustomer(app: "example", customerID: "dave")
            #expect(try await ledger.answer(dave).entitlements.map(\.reason) == [.revoked])
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
        try await with(Self.folder) { try await body($0, $1, try #require($2)) }
    }

    /// The ledger of a fixture, without a checkpoint if it has none.
    private func with(
        _ fixture: URL, _ body: (any LedgerDatabase, PurchaseLedger, Checkpoint?) async throws -> Void
    ) async throws {
        for engine in TestEngine.chosen {
            try await TemporaryFolder.with { folder in
                switch engine {
                case .sqlite:
                    let file = folder.appending(path: "assay.sqlite").path
                    try await Self.run(
                        "/bin/sh",
                        ["-c", "gzip -dc \"$0\" > \"$1\"", fixture.appending(path: "sqlite/ledger.gz").path, file])
                    try await with(engine, fixture, try SQLiteDatabase(path: file), folder, body)
                case .postgresql, .postgresqlServerRole:
                    try await ThrowawayPostgreSQL.withDatabase { place in
                        try await Self.run(
                            "\(place.server.programs)/psql",
                            [
                                "-q", "-v", "ON_ERROR_STOP=1", "-h", place.server.folder, "-p", "\(place.server.port)",
                                "-U",
                                "assay", "-o", "/dev/null", "-f",
                                fixture.appending(path: "postgresql/ledger.sql").path,
                                place.name,
                            ])
                        try await with(engine, fixture, try PostgreSQLDatabase(url: place.url()), folder, body)
                    }
                }
            }
        }
    }

    private func with(
        _ engine: TestEngine, _ fixture: URL, _ database: any LedgerDatabase, _ folder: URL,
        _ body: (any LedgerDatabase, PurchaseLedger, Checkpoint?) async throws -> Void
    ) async throws {
        do {
            let files = fixture.appending(path: engine.rawValue)
            let key = folder.appending(path: "entries.key").path
            // Git does not keep the mode that a key must have.
            #expect(
                FileManager.default.createFile(
                    atPath: key, contents: try Data(contentsOf: files.appending(path: "entries.key")),
                    attributes: [.posixPermissions: 0o600]))
            var checkpoint: Checkpoint?
            if let note = FileManager.default.contents(atPath: files.appending(path: "checkpoint").path) {
                let verifier = try LogVerifierKey(
                    text: [UInt8](try Data(contentsOf: files.appending(path: "log.pub"))).filter { $0 != 0x0A })
                checkpoint = try SignedCheckpoint(note: [UInt8](note), keys: [verifier]).checkpoint
            }
            try await LedgerMigrations.migrate(database, now: 0)
            let clock = Timestamp(millisecondsSince1970: 1_795_500_000_000)
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: try Self.anchors(fixture)),
                entryKey: try EntryKey(file: key), clock: { clock })
            try await body(database, ledger, checkpoint)
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
    private static func anchors(_ fixture: URL = folder) throws -> [TrustAnchor] {
        let text = try String(contentsOf: fixture.appending(path: "trust.pem"), encoding: .utf8)
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

    /// The rows of consumables.
    private static func balances(_ rows: Set<[LedgerValue]>?) -> Set<[LedgerValue]> {
        (rows ?? []).filter { $0[4] == .text("consumable") }
    }

    /// What customers are answered about each subject, at many times.
    private static func answers(
        _ ledger: PurchaseLedger, _ database: any LedgerDatabase
    ) async throws -> [Subject: [Entitlement]] {
        func numbers(_ sql: String) async throws -> [String: Int64] {
            let rows = try await database.read(.lists) { try $0.rows(sql, []).map(\.values) }
            return Dictionary(
                rows.compactMap { values in
                    if case .text(let name) = values[0], case .integer(let key) = values[1] { (name, key) } else { nil }
                }, uniquingKeysWith: { first, _ in first })
        }
        let app = try #require(try await numbers("SELECT name, app_key FROM apps").keys.first)
        let products = try await numbers("SELECT product_id, product_key FROM products")
        let environments = try await numbers("SELECT name, environment_key FROM environments")
        var answers: [Subject: [Entitlement]] = [:]
        for (name, key) in try await numbers(
            "SELECT name, customer_key FROM customers WHERE name IS NOT NULL AND merged_into IS NULL")
        {
            for day in stride(from: 0.0, to: 400, by: 7.5) {
                let moment = Timestamp(
                    millisecondsSince1970: Int64((MintedWorld.moment.timeIntervalSince1970 + day * 86_400) * 1000))
                for environment in environments.keys {
                    let answer = try await ledger.answer(
                        EntitlementsOfCustomer(
                            app: app, customerID: name, environment: AppStoreEnvironment(environment), at: moment))
                    // Past balances are computed from facts, which the rules read differently before the rebuild, too.
                    for entitlement in answer.entitlements where entitlement.productKind != .consumable {
                        let subject = [
                            LedgerValue.integer(key), .integer(try #require(products[entitlement.productID])),
                            .integer(try #require(environments[environment])),
                        ]
                        answers[subject, default: []].append(entitlement)
                    }
                }
            }
        }
        return answers
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
