import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What a role with rights on the schema can plant in PostgreSQL to make the tables show other rows.
@Suite("Attacks on the schema of PostgreSQL")
struct SchemaAttackTests {
    /// What is planted, how it is removed, and the finding.
    private struct Attack {
        var planted: [String]
        var removed: [String]
        var finding: String
    }

    private static func attacks(_ database: String) -> [Attack] {
        [
            Attack(
                planted: ["ALTER TABLE lots ENABLE ROW LEVEL SECURITY"],
                removed: ["ALTER TABLE lots DISABLE ROW LEVEL SECURITY"], finding: "schema_differs table lots"),
            Attack(
                planted: ["ALTER TABLE lots FORCE ROW LEVEL SECURITY"],
                removed: ["ALTER TABLE lots NO FORCE ROW LEVEL SECURITY"], finding: "schema_differs table lots"),
            Attack(
                planted: ["CREATE POLICY narrow ON lots USING (ground > 0)"], removed: ["DROP POLICY narrow ON lots"],
                finding: "schema_unknown policy lots.narrow"),
            Attack(
                planted: ["CREATE RULE keep AS ON DELETE TO lots DO INSTEAD NOTHING"],
                removed: ["DROP RULE keep ON lots"], finding: "schema_unknown rule lots.keep"),
            Attack(
                planted: ["ALTER TABLE orders ALTER COLUMN quantity SET DEFAULT 9"],
                removed: ["ALTER TABLE orders ALTER COLUMN quantity DROP DEFAULT"],
                finding: "schema_differs table orders"),
            Attack(
                planted: [
                    """
                    CREATE OR REPLACE FUNCTION journal_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN RETURN NEW; END $$
                    """
                ],
                removed: [
                    """
                    CREATE OR REPLACE FUNCTION journal_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ \
                    BEGIN RAISE EXCEPTION 'journal is append-only'; END $$
                    """
                ], finding: "schema_differs function journal_refuse()"),
            Attack(
                planted: ["ALTER FUNCTION journal_refuse() SET session_replication_role = replica"],
                removed: ["ALTER FUNCTION journal_refuse() RESET ALL"],
                finding: "schema_differs function journal_refuse()"),
            Attack(
                planted: ["ALTER FUNCTION journal_refuse() SECURITY DEFINER"],
                removed: ["ALTER FUNCTION journal_refuse() SECURITY INVOKER"],
                finding: "schema_differs function journal_refuse()"),
            Attack(
                planted: ["ALTER TABLE journal DISABLE TRIGGER journal_no_update"],
                removed: ["ALTER TABLE journal ENABLE TRIGGER journal_no_update"],
                finding: "schema_differs trigger journal.journal_no_update"),
            Attack(
                planted: ["CREATE SCHEMA other", "CREATE TABLE other.child () INHERITS (lots)"],
                removed: ["DROP SCHEMA other CASCADE"], finding: "schema_unknown inheritance other.child of lots"),
            Attack(
                planted: ["CREATE TABLE parts (n BIGINT) PARTITION BY RANGE (n)"], removed: ["DROP TABLE parts"],
                finding: "schema_unknown table parts"),
            Attack(
                planted: [
                    "CREATE SCHEMA other",
                    """
                    CREATE FUNCTION other.watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$
                    """,
                    "CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION other.watch()",
                ],
                removed: ["DROP EVENT TRIGGER watch", "DROP SCHEMA other CASCADE"],
                finding: "schema_unknown event trigger watch"),
            Attack(
                planted: ["ALTER ROLE assay IN DATABASE \(database) SET session_replication_role = replica"],
                removed: ["ALTER ROLE assay IN DATABASE \(database) RESET ALL"],
                finding: "schema_unknown role setting assay session_replication_role=replica"),
            Attack(
                planted: ["ALTER DATABASE \(database) SET search_path = other, public"],
                removed: ["ALTER DATABASE \(database) RESET ALL"],
                finding: "schema_unknown role setting all roles search_path=other, public"),
            // The default search path begins with the schema of the role's name.
            Attack(
                planted: ["CREATE SCHEMA assay", "CREATE TABLE assay.lots (LIKE public.lots)"],
                removed: ["DROP SCHEMA assay CASCADE"], finding: "schema_unknown table assay.lots in the search path"),
            Attack(
                planted: [
                    "CREATE SCHEMA assay",
                    "CREATE FUNCTION assay.greatest_key(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT 1 $$",
                    "ALTER FUNCTION assay.greatest_key(bigint) RENAME TO count",
                ],
                removed: ["DROP SCHEMA assay CASCADE"],
                finding: "schema_unknown function assay.count in the search path"),
            Attack(
                planted: ["CREATE OPERATOR <<>> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8eq)"],
                removed: ["DROP OPERATOR <<>> (bigint, bigint)"], finding: "schema_unknown operator <<>>"),
            Attack(
                planted: ["UPDATE pg_index SET indisready = false WHERE indexrelid = 'orders_by_payment'::regclass"],
                removed: ["UPDATE pg_index SET indisready = true WHERE indexrelid = 'orders_by_payment'::regclass"],
                finding: "schema_differs index orders_by_payment"),
        ]
    }

    @Test("A.2 Each object that can change what the tables of PostgreSQL show is a finding")
    func planted() async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            let database = try PostgreSQLDatabase(url: place.url())
            let world = try await LedgerWorld(database)
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            for attack in Self.attacks(place.name) {
                try await Self.execute(attack.planted, database)
                let findings = try await world.ledger.audit(isVerifyingEvidence: false).findings
                #expect(
                    findings.contains { "\($0.kind.rawValue) \($0.detail)" == attack.finding },
                    "\(attack.planted): \(findings)")
                try await Self.execute(attack.removed, database)
            }
            try await world.requireConsistency()
            try await database.close()
        }
    }

    @Test("A.2 Settings of a role that only limit its time are not findings")
    func limits() async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            let database = try PostgreSQLDatabase(url: place.url())
            let world = try await LedgerWorld(database)
            try await Self.execute(
                ["ALTER ROLE assay IN DATABASE \(place.name) SET statement_timeout = '90s'"], database)
            try await world.requireConsistency()
            try await database.close()
        }
    }

    @Test("A.2 A policy that hides rows from the server's role is a finding, and so is each table that it hides")
    func hiddenRows() async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            let owner = try PostgreSQLDatabase(url: place.url())
            let world = try await LedgerWorld(owner)
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            let database = try PostgreSQLDatabase(url: try await ServerRole.make(in: place))
            let server = try await LedgerWorld(database, clock: world.clock)
            try await server.requireConsistency()
            try await Self.execute(
                [
                    "INSERT INTO lots SELECT ground + 1000, customer_key, product_key, environment, quantity, withdrawn, "
                        + "taken, available, purchased_at, reason FROM lots",
                    "ALTER TABLE lots ENABLE ROW LEVEL SECURITY", "CREATE POLICY narrow ON lots USING (ground < 1000)",
                ], owner)
            let hidden = try await database.read(.lists) { try $0.rows("SELECT ground FROM lots", []).count }
            #expect(hidden == 1)
            let findings = try await server.ledger.audit().findings.map { "\($0.kind.rawValue) \($0.detail)" }
            #expect(findings.contains("schema_unknown policy lots.narrow"), "\(findings)")
            #expect(
                findings.contains { $0.hasPrefix("audit_incomplete") && $0.contains("row-level security") },
                "\(findings)")
            try await database.close()
            try await owner.close()
        }
    }

    @Test("A.2 A server works under a role that does not own the tables, with the rights of docs/postgresql.md")
    func serverRole() async throws {
        try await TestEngine.postgresqlServerRole.withDatabase { open in
            let database = try open()
            let world = try await LedgerWorld(database)
            let order = try await world.order(quantity: 2)
            let paid = try await world.claim("1", order: order.id, try LedgerWorld.signed("1") { $0.quantity = 2 })
            #expect(paid.code == "accepted")
            _ = try await world.claim(
                "2", product: LedgerWorld.pro, customer: "bob",
                try LedgerWorld.signed("2", product: LedgerWorld.pro, kind: .nonConsumable))
            _ = try await world.consume(1, "c")
            _ = try await world.ledger.perform(
                AssignToken(app: "example", customerID: LedgerWorld.customer, token: UUID()))
            try await world.requireConsistency()
            for sql in [
                "DELETE FROM journal", "TRUNCATE lots", "ALTER TABLE lots DISABLE TRIGGER ALL", "DROP TABLE lots",
                "ALTER TABLE journal DISABLE TRIGGER journal_no_update", "UPDATE schema_migrations SET number = 9",
            ] {
                await #expect(throws: LedgerStorageError.self, "\(sql)") {
                    try await database.write { _ = try $0.execute(sql, []) }
                }
            }
            try await database.close()
        }
    }

    private static func execute(_ statements: [String], _ database: PostgreSQLDatabase) async throws {
        try await database.write { connection in
            for sql in statements { try connection.execute(sql, []) }
        }
    }
}
