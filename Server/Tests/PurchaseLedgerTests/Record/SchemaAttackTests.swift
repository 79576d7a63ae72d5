import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What a role with rights on the schema can plant in PostgreSQL to make the tables show other rows.
@Suite("Attacks on the schema of PostgreSQL", .tags(.everyEngine), .postgreSQL)
struct SchemaAttackTests {
    let place: ThrowawayPostgreSQL.Database = CurrentWorld.opened()

    /// What is planted, how it is removed, and the finding.
    private struct Attack {
        var planted: [String] = []
        var removed: [String] = []
        var finding = ""
    }

    /// Reads attacks: lines of SQL, after `-` of SQL that removes them, and after `=` the finding. A line that begins
    /// with spaces continues the one before. A schema that is created is dropped if nothing else is said.
    private static func attacks(_ text: String) -> [Attack] {
        var attacks = [Attack()]
        for line in text.replacing("\n  ", with: " ").split(separator: "\n").map(String.init) {
            if line.hasPrefix("= ") {
                let last = attacks.count - 1
                attacks[last].finding = String(line.dropFirst(2))
                if attacks[last].removed.isEmpty {
                    attacks[last].removed = attacks[last].planted.filter { $0.hasPrefix("CREATE SCHEMA") }
                        .map { "DROP SCHEMA \($0.dropFirst(14)) CASCADE" }
                }
                attacks.append(Attack())
            } else if line.hasPrefix("- ") {
                attacks[attacks.count - 1].removed.append(String(line.dropFirst(2)))
            } else {
                attacks[attacks.count - 1].planted.append(line)
            }
        }
        return attacks.dropLast()
    }

    /// Changes of the ledger's schema, and settings. The default search path begins with the schema of the role's name.
    private static func inside(_ database: String) -> String {
        """
        ALTER TABLE lots ENABLE ROW LEVEL SECURITY
        - ALTER TABLE lots DISABLE ROW LEVEL SECURITY
        = schema_differs table lots
        ALTER TABLE lots FORCE ROW LEVEL SECURITY
        - ALTER TABLE lots NO FORCE ROW LEVEL SECURITY
        = schema_differs table lots
        CREATE POLICY narrow ON lots USING (ground > 0)
        - DROP POLICY narrow ON lots
        = schema_unknown policy lots.narrow
        CREATE RULE keep AS ON DELETE TO lots DO INSTEAD NOTHING
        - DROP RULE keep ON lots
        = schema_unknown rule lots.keep
        ALTER TABLE orders ALTER COLUMN quantity SET DEFAULT 9
        - ALTER TABLE orders ALTER COLUMN quantity DROP DEFAULT
        = schema_differs table orders
        CREATE OR REPLACE FUNCTION journal_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$
        - CREATE OR REPLACE FUNCTION journal_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'journal is append-only'; END $$
        = schema_differs function journal_refuse()
        ALTER FUNCTION journal_refuse() SET session_replication_role = replica
        - ALTER FUNCTION journal_refuse() RESET ALL
        = schema_differs function journal_refuse()
        ALTER FUNCTION journal_refuse() SECURITY DEFINER
        - ALTER FUNCTION journal_refuse() SECURITY INVOKER
        = schema_differs function journal_refuse()
        ALTER TABLE journal DISABLE TRIGGER journal_no_update
        - ALTER TABLE journal ENABLE TRIGGER journal_no_update
        = schema_differs trigger journal.journal_no_update
        CREATE SCHEMA other
        CREATE TABLE other.child () INHERITS (lots)
        = schema_unknown inheritance other.child of lots
        CREATE TABLE parts (n BIGINT) PARTITION BY RANGE (n)
        - DROP TABLE parts
        = schema_unknown table parts
        CREATE SCHEMA other
        CREATE FUNCTION other.watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$
        CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION other.watch()
        - DROP EVENT TRIGGER watch
        - DROP SCHEMA other CASCADE
        = schema_unknown event trigger watch
        ALTER ROLE assay IN DATABASE \(database) SET session_replication_role = replica
        - ALTER ROLE assay IN DATABASE \(database) RESET ALL
        = schema_unknown role setting assay session_replication_role=replica
        ALTER DATABASE \(database) SET search_path = other, public
        - ALTER DATABASE \(database) RESET ALL
        = schema_unknown role setting all roles search_path=other, public
        CREATE SCHEMA assay
        CREATE TABLE assay.lots (LIKE public.lots)
        = schema_unknown table assay.lots has the name of one of the ledger's
        CREATE SCHEMA assay
        CREATE FUNCTION assay.greatest_key(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT 1 $$
        ALTER FUNCTION assay.greatest_key(bigint) RENAME TO count
        = schema_unknown function assay.count has the name of one of PostgreSQL's
        CREATE OPERATOR <<>> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8eq)
        - DROP OPERATOR <<>> (bigint, bigint)
        = schema_unknown operator <<>>
        UPDATE pg_index SET indisready = false WHERE indexrelid = 'orders_by_payment'::regclass
        - UPDATE pg_index SET indisready = true WHERE indexrelid = 'orders_by_payment'::regclass
        = schema_differs index orders_by_payment
        """
    }

    /// Objects outside the ledger's schema, which need not be in the search path of the role that audits. PostgreSQL
    /// prints IS DISTINCT FROM, in a trigger's condition, without the operator that it uses.
    private static func outside(_ database: String) -> String {
        """
        CREATE SCHEMA other
        CREATE VIEW other.lots AS SELECT * FROM public.lots
        = schema_unknown table other.lots has the name of one of the ledger's
        CREATE SCHEMA other
        CREATE SEQUENCE other.events_event_key_seq
        = schema_unknown table other.events_event_key_seq has the name of one of the ledger's
        CREATE SCHEMA other
        CREATE FUNCTION other.octet_length(text) RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$
        = schema_unknown function other.octet_length has the name of one of PostgreSQL's
        CREATE SCHEMA other
        CREATE OPERATOR other.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = int8ne)
        = schema_unknown operator other.= has the name of one of PostgreSQL's
        CREATE SCHEMA other
        CREATE FOREIGN DATA WRAPPER nothing
        CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing
        CREATE FOREIGN TABLE other.child () INHERITS (takes) SERVER nowhere
        - DROP SCHEMA other CASCADE
        - DROP FOREIGN DATA WRAPPER nothing CASCADE
        = schema_unknown inheritance other.child of takes
        ALTER DATABASE \(database) SET transform_null_equals = on
        - ALTER DATABASE \(database) RESET ALL
        = schema_unknown role setting all roles transform_null_equals=on
        CREATE CAST (text AS bigint) WITH INOUT AS ASSIGNMENT
        - DROP CAST (text AS bigint)
        = schema_unknown cast text AS bigint
        CREATE SCHEMA other
        CREATE FUNCTION other.same(bytea, bytea) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$
        CREATE OPERATOR other.= (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = other.same)
        \(renewedTrigger("other, pg_catalog, public"))
        - \(renewedTrigger("public"))
        - DROP SCHEMA other CASCADE
        = schema_unknown dependency journal_no_update on public.journal uses
          other.=(pg_catalog.bytea,pg_catalog.bytea)
        CREATE EXTENSION amcheck
        CREATE FUNCTION count(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT 1 $$
        ALTER EXTENSION amcheck ADD FUNCTION count(bigint)
        - DROP EXTENSION amcheck
        = schema_unknown function count(bigint)
        """
    }

    /// Makes a trigger again from its printed definition, under a search path.
    private static func renewedTrigger(_ path: String) -> String {
        """
        DO $$ DECLARE definition text; own text := current_setting('search_path'); BEGIN
          SELECT pg_get_triggerdef(oid) INTO definition FROM pg_trigger WHERE tgname = 'journal_no_update';
          DROP TRIGGER journal_no_update ON journal;
          PERFORM set_config('search_path', '\(path)', true); EXECUTE definition;
          PERFORM set_config('search_path', own, true);
          END $$
        """
    }

    /// Types, collations and other objects in the ledger's schema.
    private static let types = """
        \(mergingCollation[0])
        \(mergingCollation[1])
        - ALTER TABLE customers ALTER COLUMN name TYPE text COLLATE pg_catalog."C"
        - DROP COLLATION public."C"
        = schema_differs table customers
        \(mergingCollation[0])
        - DROP COLLATION public."C"
        = schema_unknown collation C
        CREATE DOMAIN public.text AS pg_catalog.text
        ALTER TABLE customers ALTER COLUMN name TYPE public.text COLLATE pg_catalog."C"
        - ALTER TABLE customers ALTER COLUMN name TYPE pg_catalog.text COLLATE pg_catalog."C"
        - DROP DOMAIN public.text
        = schema_differs table customers
        CREATE DOMAIN quiet AS bigint
        - DROP DOMAIN quiet
        = schema_unknown type quiet
        CREATE TYPE quiet AS ENUM ('a', 'b')
        - DROP TYPE quiet
        = schema_unknown type quiet
        CREATE OPERATOR CLASS quiet FOR TYPE bigint USING btree AS OPERATOR 1 >, OPERATOR 2 >=,
          OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 btint8cmp(bigint, bigint)
        - DROP OPERATOR FAMILY quiet USING btree
        = schema_unknown operator class quiet
        CREATE CONVERSION quiet FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8
        - DROP CONVERSION quiet
        = schema_unknown conversion quiet
        CREATE TEXT SEARCH CONFIGURATION quiet (COPY = pg_catalog.simple)
        - DROP TEXT SEARCH CONFIGURATION quiet
        = schema_unknown text search configuration quiet
        CREATE VIEW quiet WITH (security_barrier) AS SELECT * FROM lots
        - DROP VIEW quiet
        = schema_unknown view quiet
        ALTER TABLE lots ADD COLUMN doubled BIGINT GENERATED ALWAYS AS (available * 2) STORED
        - ALTER TABLE lots DROP COLUMN doubled
        = schema_differs table lots
        ALTER SEQUENCE events_event_key_seq INCREMENT 2
        - ALTER SEQUENCE events_event_key_seq INCREMENT 1
        = schema_differs sequence events_event_key_seq
        """

    private static let mergingCollation = [
        #"CREATE COLLATION public."C" (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"#,
        #"ALTER TABLE customers ALTER COLUMN name TYPE text COLLATE public."C""#,
    ]

    @Test("A.2 Each object that can change what the tables of PostgreSQL show is a finding")
    func planted() async throws {
        // An audit is a process of its own: no statement was prepared before the attack.
        let database = try PostgreSQLDatabase(url: place.url() + "&assay_prepared_statements=off")
        let world = try await LedgerWorld(database)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        let attacks = [Self.inside(place.name), Self.outside(place.name), Self.types].flatMap(Self.attacks)
        #expect(attacks.count == 38)
        for attack in attacks {
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

    @Test("A.2 Settings of a role that only limit its time are not findings")
    func limits() async throws {
        let database = try PostgreSQLDatabase(url: place.url())
        let world = try await LedgerWorld(database)
        try await Self.execute(["ALTER ROLE assay IN DATABASE \(place.name) SET statement_timeout = '90s'"], database)
        try await world.requireConsistency()
        try await database.close()
    }

    @Test("A.2 A search path of the ledger's schema alone, and extensions in every schema, are not findings")
    func honestObjects() async throws {
        let database = try PostgreSQLDatabase(url: place.url())
        let world = try await LedgerWorld(database)
        try await Self.execute(
            [
                "ALTER ROLE assay IN DATABASE \(place.name) SET search_path = pg_catalog, public",
                "CREATE SCHEMA extensions", "CREATE EXTENSION citext",
                "CREATE EXTENSION pgcrypto SCHEMA extensions",
                "CREATE EXTENSION pg_trgm", "CREATE EXTENSION hstore SCHEMA extensions",
                "CREATE EXTENSION cube", "CREATE EXTENSION earthdistance",
            ], database)
        try await world.requireConsistency()
        try await database.close()
    }

    /// The attacker owns the database. The default search path of the server's role begins with the schema of its name.
    @Test(
        "A.2 Tables in the schema that has the name of the server's role change no answer, and are findings",
        arguments: ["", "&assay_prepared_statements=off"])
    func serverPath(parameter: String) async throws {
        let roles = try await DatabaseRoles.make(in: place)
        let owner = try PostgreSQLDatabase(url: roles.owner)
        let world = try await LedgerWorld(owner)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        try await Self.execute(try ServerRole.documented(roles.serverName), owner)
        let running = try PostgreSQLDatabase(url: roles.server + parameter)
        let before = try await LedgerWorld(running, clock: world.clock)
        #expect(try await before.entitlement()?.balance == 1)
        try await Self.execute(Self.copied(to: roles.serverName), owner)
        #expect(try await before.entitlement()?.balance == 1)
        let database = try PostgreSQLDatabase(url: roles.server + parameter)
        let server = try await LedgerWorld(database, clock: world.clock)
        #expect(try await server.entitlement()?.balance == 1)
        _ = try await server.claim("2", try LedgerWorld.signed("2"))
        #expect(try await server.entitlement()?.balance == 2)
        #expect(try await server.events() == ["granted", "granted"])
        let finding =
            "schema_unknown table \(roles.serverName).entitlements has the name of one of the ledger's"
        for audited in [world, server] {
            let findings = try await audited.ledger.audit().findings.map { "\($0.kind.rawValue) \($0.detail)" }
            #expect(findings.contains(finding), "\(findings)")
        }
        for open in [database, running, owner] { try await open.close() }
    }

    @Test("A.2 A search path that is set for another superuser changes no answer, and is a finding for every auditor")
    func superuserPath() async throws {
        let roles = try await DatabaseRoles.make(in: place)
        let owner = try PostgreSQLDatabase(url: roles.owner)
        let world = try await LedgerWorld(owner)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        let admin = try PostgreSQLDatabase(url: place.url())
        try await Self.execute(Self.copied(to: "evil"), owner)
        try await Self.execute(
            ["ALTER ROLE \(roles.superuserName) IN DATABASE \(place.name) SET search_path = evil, public"], admin)
        let database = try PostgreSQLDatabase(url: roles.superuser)
        let server = try await LedgerWorld(database, clock: world.clock)
        #expect(try await server.entitlement()?.balance == 1)
        for audited in [world, server] {
            let findings = try await audited.ledger.audit().findings.map { "\($0.kind.rawValue) \($0.detail)" }
            for finding in [
                "role setting \(roles.superuserName) search_path=evil, public",
                "table evil.entitlements has the name of one of the ledger's",
            ] {
                #expect(findings.contains("schema_unknown \(finding)"), "\(findings)")
            }
        }
        for open in [database, admin, owner] { try await open.close() }
    }

    @Test("A.2 A collation of the ledger's schema cannot merge two customers unnoticed")
    func mergedNames() async throws {
        // An audit is a process of its own: no statement was prepared before the attack.
        let database = try PostgreSQLDatabase(url: place.url() + "&assay_prepared_statements=off")
        let world = try await LedgerWorld(database)
        _ = try await world.claim("1", customer: "ALICE", try LedgerWorld.signed("1"))
        try await world.requireConsistency()
        try await Self.execute(Self.mergingCollation, database)
        let found = try await database.read(.lists) {
            try $0.rows("SELECT name FROM customers WHERE name = ?1", [.text("alice")]).count
        }
        #expect(found == 1)
        let findings = try await world.ledger.audit().findings.map { "\($0.kind.rawValue) \($0.detail)" }
        for finding in ["schema_differs table customers", "schema_unknown collation C"] {
            #expect(findings.contains(finding), "\(findings)")
        }
        try await database.close()
    }

    @Test("A.2 A new database with the roles of docs/postgresql.md is audited clean by the owner and by a superuser")
    func stock() async throws {
        let roles = try await DatabaseRoles.make(in: place)
        let owner = try PostgreSQLDatabase(url: roles.owner)
        let world = try await LedgerWorld(owner)
        try await Self.execute(try ServerRole.documented(roles.serverName), owner)
        let database = try PostgreSQLDatabase(url: roles.server)
        let server = try await LedgerWorld(database, clock: world.clock)
        _ = try await server.claim("1", try LedgerWorld.signed("1"))
        try await world.requireConsistency()
        let admin = try PostgreSQLDatabase(url: roles.superuser)
        try await LedgerWorld(admin, clock: world.clock).requireConsistency()
        // The server's role may not create the schema that the audit compares with.
        let findings = try await server.ledger.audit().findings
        #expect(findings.map(\.kind.rawValue) == ["audit_incomplete"], "\(findings)")
        for open in [admin, database, owner] { try await open.close() }
    }

    @Test("A.2 If two schemas have a ledger, a connection is refused unless its URL names one of them")
    func twoLedgers() async throws {
        let admin = try PostgreSQLDatabase(url: place.url())
        try await Self.execute(["CREATE SCHEMA shop", #"CREATE SCHEMA "Shop 2""#], admin)
        let named = [
            place.url() + "&options=-c%20search_path%3Dshop",
            place.url() + "&options=-c%20search_path%3D%22Shop%5C%202%22",
        ]
        for (number, url) in named.enumerated() {
            let database = try PostgreSQLDatabase(url: url)
            let world = try await LedgerWorld(database)
            for claim in 0...number { _ = try await world.claim("\(claim)", try LedgerWorld.signed("\(claim)")) }
            try await database.close()
        }
        let error = #expect(throws: LedgerStorageError.self) { try PostgreSQLDatabase(url: place.url()) }
        #expect(error?.kind == .unavailable && error?.detail.contains("shop") == true, "\(String(describing: error))")
        for (number, url) in named.enumerated() {
            let database = try PostgreSQLDatabase(url: url)
            let world = try await LedgerWorld(database)
            #expect(try await world.entitlement()?.balance == Int64(number + 1))
            let findings = try await world.ledger.audit().findings
            #expect(
                findings.allSatisfy {
                    $0.kind == .schemaUnknown && $0.detail.hasSuffix(" has the name of one of the ledger's")
                }, "\(findings)")
            #expect(!findings.isEmpty)
            try await database.close()
        }
        try await admin.close()
    }

    /// Copies the entitlements to another schema, with a million coins.
    private static func copied(to schema: String) -> [String] {
        [
            "CREATE SCHEMA \(schema)", "CREATE TABLE \(schema).entitlements (LIKE public.entitlements INCLUDING ALL)",
            "INSERT INTO \(schema).entitlements SELECT * FROM public.entitlements",
            "UPDATE \(schema).entitlements SET balance = 1000000 WHERE kind = 'consumable'",
            "GRANT USAGE ON SCHEMA \(schema) TO PUBLIC", "GRANT ALL ON \(schema).entitlements TO PUBLIC",
        ]
    }

    @Test("A.2 A policy that hides rows from the server's role is a finding, and so is each table that it hides")
    func hiddenRows() async throws {
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

    @Test("A.2 A server works under a role that does not own the tables, with the rights of docs/postgresql.md")
    func serverRole() async throws {
        try await TestEngine.postgresqlServerRole.withDatabase { open in
            let database = try open()
            let world = try await LedgerWorld(database)
            let order = try await world.order(quantity: 2)
            let paid = try await world.claim("1", order: order.id, try LedgerWorld.signed("1") { $0.quantity = 2 })
            #expect(paid.code == "accepted")
            _ = try await world.claim("2", customer: "bob", try LedgerWorld.signed("2", product: LedgerWorld.pro))
            _ = try await world.consume(1, "c")
            try await world.assign(UUID(), to: LedgerWorld.customer)
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
