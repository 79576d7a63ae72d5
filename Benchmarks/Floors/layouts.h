/* The tables and statements of the floors: today's as commit 01f078e2 sends them (traced on both engines), the shelf's as
   section 5 of the ledger's design has them. Both have the same evidence, journal, log and notifications.

   The letters after a statement are its values, by `fill`. '*': only for a new customer; '~': left out by the lean shelf;
   '+': there only for a new customer;
   '.': once a batch, without values; '!': once a batch, with the locks;
   '#': once a batch, with the values of the first. */

/* MARK: both */

static const char common_schema[] =
    "CREATE TABLE schema_migrations (number INTEGER PRIMARY KEY, title TEXT NOT NULL, applied_at INTEGER NOT NULL);"
    "CREATE TABLE rules (version INTEGER PRIMARY KEY, entry_key INTEGER NOT NULL);"
    "INSERT INTO schema_migrations VALUES (1, 'floors', 0); INSERT INTO rules VALUES (1, 1);"
    "CREATE TABLE evidence (evidence_key INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, size INTEGER NOT NULL, content BLOB);"
    "CREATE TABLE evidence_parts (part_key INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, content BLOB);"
    "CREATE TABLE log_entries (leaf INTEGER PRIMARY KEY, entry_key INTEGER NOT NULL UNIQUE);"
    "CREATE TABLE log_tiles (tile_key INTEGER PRIMARY KEY, root BLOB NOT NULL, hashes BLOB NOT NULL);"
    "CREATE TABLE log_state (log_key INTEGER PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL, sealed_up_to INTEGER);"
    "INSERT INTO log_state VALUES (1, 0, '', 0);"
    "CREATE TABLE notifications (app_key INTEGER NOT NULL, environment INTEGER NOT NULL, notification_id TEXT NOT NULL,"
    " entry_key INTEGER NOT NULL, type TEXT, subtype TEXT, PRIMARY KEY (app_key, environment, notification_id)) WITHOUT ROWID;"
    "CREATE INDEX notifications_by_entry ON notifications (app_key, entry_key);"
    "CREATE INDEX notifications_by_environment ON notifications (app_key, environment, entry_key);"
    "CREATE INDEX notifications_by_type ON notifications (app_key, type, entry_key);"
    "CREATE TABLE journal (entry_key INTEGER PRIMARY KEY, entry_id BLOB NOT NULL UNIQUE, leaf BLOB NOT NULL, salt BLOB, details BLOB,"
    " app_key INTEGER NOT NULL, customer_key INTEGER, order_key INTEGER, transaction_key INTEGER, evidence_key INTEGER,"
    " kind INTEGER NOT NULL, code TEXT NOT NULL, at INTEGER NOT NULL, mac BLOB);"
    "CREATE INDEX journal_accepted ON journal (app_key, at, entry_key) WHERE kind = 3 AND code = 'accepted';"
    "CREATE INDEX journal_rejected ON journal (app_key, at, entry_key) WHERE kind = 3 AND code <> 'accepted';"
    "CREATE INDEX journal_by_code ON journal (app_key, code, at, entry_key) WHERE kind = 3 AND code <> 'accepted';"
    "CREATE INDEX journal_by_order ON journal (order_key, at, entry_key) WHERE kind = 3 AND order_key IS NOT NULL;"
    "CREATE INDEX journal_refusals ON journal (app_key, at, entry_key) WHERE kind = 48;"
    "CREATE INDEX journal_not_confirmed ON journal (app_key, code, at, entry_key) WHERE kind = 2 AND code <> 'accepted';"
    "CREATE INDEX journal_by_transaction ON journal (transaction_key, kind, at, entry_key) WHERE transaction_key IS NOT NULL;";

static const char sqlite_triggers[] =
    "CREATE TRIGGER journal_no_replace BEFORE INSERT ON journal WHEN EXISTS (SELECT 1 FROM journal WHERE entry_key = NEW.entry_key)"
    " OR EXISTS (SELECT 1 FROM journal WHERE entry_id = NEW.entry_id) BEGIN SELECT RAISE(ABORT, 'journal is append-only'); END;"
    "CREATE TRIGGER log_no_replace BEFORE INSERT ON log_entries WHEN EXISTS (SELECT 1 FROM log_entries WHERE leaf = NEW.leaf)"
    " OR EXISTS (SELECT 1 FROM log_entries WHERE entry_key = NEW.entry_key) BEGIN SELECT RAISE(ABORT, 'log is append-only'); END;"
    "CREATE TRIGGER evidence_no_replace BEFORE INSERT ON evidence WHEN EXISTS (SELECT 1 FROM evidence WHERE evidence_key ="
    " NEW.evidence_key) OR EXISTS (SELECT 1 FROM evidence WHERE sha256 = NEW.sha256) BEGIN SELECT RAISE(IGNORE); END;";

static const char postgresql_triggers[] =
    "CREATE FUNCTION evidence_ignore() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM evidence WHERE"
    " evidence_key = NEW.evidence_key) OR EXISTS (SELECT 1 FROM evidence WHERE sha256 = NEW.sha256) THEN RETURN NULL; END IF;"
    " RETURN NEW; END $$;"
    "CREATE TRIGGER evidence_no_replace BEFORE INSERT ON evidence FOR EACH ROW EXECUTE FUNCTION evidence_ignore();"
    "CREATE SEQUENCE s1; CREATE SEQUENCE s2; CREATE SEQUENCE s3; CREATE SEQUENCE s4; CREATE SEQUENCE s5; CREATE SEQUENCE s6;";

#define SCHEMA_NUMBER {"SELECT max(number), (SELECT max(version) FROM rules) FROM schema_migrations", "."}
#define EVIDENCE {"SELECT evidence_key, sha256, size, content FROM evidence WHERE sha256 = ?1", "h"}, \
    {"SELECT part_key, content IS NOT NULL FROM evidence_parts WHERE sha256 = ?1", "H"}
#define NEW_EVIDENCE {"INSERT INTO evidence (sha256, size, content, evidence_key) VALUES (?1, ?2, ?3, ?4)", "hzek"}
#define NEW_NOTIFICATION {"INSERT INTO notifications (app_key, environment, notification_id, entry_key, type, subtype)" \
    " VALUES (?1, ?2, ?3, ?4, ?5, NULL)", "12ykV"}
#define NOTIFICATION {"SELECT entry_key FROM notifications WHERE app_key = ?1 AND environment = ?2 AND notification_id = ?3", "12y"}
#define NEW_ENTRY(values) {"INSERT INTO journal (entry_id, leaf, salt, details, app_key, customer_key, order_key, transaction_key," \
    " evidence_key, kind, code, at, mac, entry_key) VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL, ?7, ?8, ?9, ?10, ?11, ?12, ?13)", values}
#define NUMBERS(sequence) {"SELECT nextval('" sequence "') FROM generate_series(1, 32)", "."}
#define BEGIN_PG {"SELECT pg_advisory_xact_lock_shared(1)", "."}, {"SELECT pg_advisory_xact_lock(part) FROM unnest(?1::bigint[]) AS part", "!"}, \
    SCHEMA_NUMBER
#define LATE_PG {"SELECT min(pg_try_advisory_xact_lock(part)::int)::bigint FROM unnest(?1::bigint[]) AS part", "!"}
#define SEAL {"UPDATE log_state SET size = size WHERE log_key = 1 RETURNING size, root", "."}, \
    {"INSERT INTO log_entries (leaf, entry_key) VALUES (?1, ?2)", "jk"}, \
    {"UPDATE log_state SET size = size + 256, root = root, sealed_up_to = sealed_up_to + 256 WHERE log_key = 1", "."}, \
    {"INSERT INTO log_tiles (tile_key, root, hashes) VALUES (?1, ?2, ?3)", "#khB"}

/* MARK: today */

static const char today_schema[] =
    "CREATE INDEX journal_by_customer ON journal (customer_key, kind, at, entry_key) WHERE customer_key IS NOT NULL;"
    "CREATE INDEX journal_restores ON journal (customer_key, entry_key) WHERE kind = 3 AND transaction_key IS NULL AND code = 'accepted';"
    "CREATE INDEX journal_notifications ON journal (customer_key, entry_key) WHERE kind = 23 AND customer_key IS NOT NULL;"
    "CREATE TABLE log_pending (entry_key INTEGER PRIMARY KEY);"
    "CREATE TABLE events (event_key INTEGER PRIMARY KEY, app_key INTEGER NOT NULL, entry_key INTEGER NOT NULL, type TEXT NOT NULL,"
    " customer_key INTEGER, former_key INTEGER, environment INTEGER, product_key INTEGER, transaction_key INTEGER,"
    " original_key INTEGER, order_key INTEGER, figures BLOB NOT NULL);"
    "CREATE INDEX events_by_app ON events (app_key, event_key);"
    "CREATE INDEX events_by_customer ON events (customer_key, event_key) WHERE customer_key IS NOT NULL;"
    "CREATE TABLE products (product_key INTEGER PRIMARY KEY, app_key INTEGER NOT NULL, product_id TEXT NOT NULL,"
    " first_known_at INTEGER NOT NULL, UNIQUE (app_key, product_id));"
    "INSERT INTO products VALUES (1, 1, 'com.example.app.coins', 1700000000000);"
    "CREATE TABLE customers (customer_key INTEGER PRIMARY KEY, app_key INTEGER NOT NULL, reference BLOB NOT NULL, name TEXT,"
    " merged_into INTEGER, merge_entry INTEGER, token BLOB, folded TEXT, UNIQUE (app_key, name));"
    "CREATE INDEX customers_by_folded ON customers (app_key, folded) WHERE folded IS NOT NULL;"
    "CREATE INDEX customers_by_merge ON customers (merged_into) WHERE merged_into IS NOT NULL;"
    "CREATE TABLE customer_moves (target_key INTEGER NOT NULL, customer_key INTEGER NOT NULL, entry_key INTEGER NOT NULL,"
    " PRIMARY KEY (target_key, customer_key)) WITHOUT ROWID;"
    "CREATE UNIQUE INDEX customer_moves_by_customer ON customer_moves (customer_key, target_key);"
    "CREATE TABLE originals (original_key INTEGER PRIMARY KEY, environment INTEGER NOT NULL, original_id TEXT NOT NULL,"
    " xcode_second INTEGER NOT NULL, app_key INTEGER NOT NULL, UNIQUE (environment, original_id, xcode_second));"
    "CREATE TABLE renewals (environment INTEGER NOT NULL, original_id TEXT NOT NULL, beside TEXT NOT NULL, concern INTEGER NOT NULL,"
    " facts BLOB NOT NULL, evidence_key INTEGER NOT NULL, PRIMARY KEY (environment, original_id, beside, concern)) WITHOUT ROWID;"
    "CREATE TABLE transactions (transaction_key INTEGER PRIMARY KEY, original_key INTEGER NOT NULL, environment INTEGER NOT NULL,"
    " transaction_id TEXT NOT NULL, xcode_second INTEGER NOT NULL, product_key INTEGER NOT NULL, facts BLOB NOT NULL,"
    " evidence_key INTEGER NOT NULL, known_at INTEGER NOT NULL, kind TEXT, duration TEXT, token BLOB, owner_key INTEGER,"
    " owner_reason TEXT, app_transaction_id TEXT, UNIQUE (environment, transaction_id, xcode_second));"
    "CREATE INDEX transactions_by_original ON transactions (original_key);"
    "CREATE INDEX transactions_by_owner ON transactions (owner_key, transaction_key) WHERE owner_key IS NOT NULL;"
    "CREATE INDEX transactions_by_pass ON transactions (owner_key, product_key, environment) WHERE kind = 'non_renewing'"
    " AND owner_key IS NOT NULL;"
    "CREATE INDEX transactions_by_token ON transactions (token, original_key) WHERE token IS NOT NULL;"
    "CREATE INDEX transactions_without_kind ON transactions (product_key, original_key) WHERE kind IS NULL;"
    "CREATE INDEX transactions_by_app_transaction ON transactions (environment, app_transaction_id) WHERE app_transaction_id IS NOT NULL;"
    "CREATE INDEX transactions_held ON transactions (transaction_key) WHERE owner_key IS NULL AND product_key <> 0;"
    "CREATE INDEX transactions_erased ON transactions (original_key) WHERE product_key = 0;"
    "CREATE TABLE ownership_acts (original_key INTEGER NOT NULL, entry_key INTEGER NOT NULL, transaction_key INTEGER NOT NULL,"
    " customer_key INTEGER NOT NULL, former_key INTEGER, kind TEXT NOT NULL, PRIMARY KEY (original_key, entry_key, transaction_key))"
    " WITHOUT ROWID;"
    "CREATE TABLE entitlements (customer_key INTEGER NOT NULL, product_key INTEGER NOT NULL, environment INTEGER NOT NULL,"
    " ground INTEGER NOT NULL, kind TEXT NOT NULL, balance INTEGER NOT NULL CHECK (balance >= 0), shortfall INTEGER NOT NULL"
    " CHECK (shortfall >= 0), timeline BLOB, reason TEXT, PRIMARY KEY (customer_key, product_key, environment, ground)) WITHOUT ROWID;"
    "CREATE TABLE lots (ground INTEGER PRIMARY KEY, customer_key INTEGER NOT NULL, product_key INTEGER NOT NULL, environment INTEGER"
    " NOT NULL, quantity INTEGER NOT NULL, withdrawn INTEGER NOT NULL, taken INTEGER NOT NULL, available INTEGER NOT NULL CHECK"
    " (available >= 0), purchased_at INTEGER NOT NULL, reason TEXT NOT NULL);"
    "CREATE INDEX lots_empty ON lots (customer_key, product_key, environment, purchased_at, reason) WHERE available = 0;"
    "CREATE INDEX lots_available ON lots (customer_key, product_key, environment, purchased_at, ground) WHERE available > 0;"
    "CREATE TABLE takes (ground INTEGER NOT NULL, customer_key INTEGER NOT NULL, units INTEGER NOT NULL, PRIMARY KEY (ground, customer_key))"
    " WITHOUT ROWID;"
    "CREATE TABLE hand_grants (grant_key INTEGER PRIMARY KEY, customer_key INTEGER NOT NULL, revoked_original INTEGER);"
    "CREATE INDEX hand_grants_by_original ON hand_grants (revoked_original) WHERE revoked_original IS NOT NULL;"
    "CREATE TABLE orders (order_key INTEGER PRIMARY KEY, customer_key INTEGER NOT NULL, product_key INTEGER NOT NULL, quantity INTEGER"
    " NOT NULL, expires_at INTEGER NOT NULL, status TEXT NOT NULL, paid_by INTEGER);"
    "CREATE UNIQUE INDEX orders_by_payment ON orders (paid_by) WHERE paid_by IS NOT NULL;"
    "CREATE INDEX orders_open ON orders (customer_key, product_key, quantity, expires_at, order_key) WHERE status = 'created';"
    "CREATE TABLE seats (entry_key INTEGER PRIMARY KEY, original_key INTEGER NOT NULL, customer_key INTEGER NOT NULL);"
    "CREATE INDEX seats_by_customer ON seats (customer_key, original_key);"
    "CREATE TABLE seat_access (original_key INTEGER NOT NULL, product_key INTEGER NOT NULL, environment INTEGER NOT NULL,"
    " timeline BLOB NOT NULL, PRIMARY KEY (original_key, product_key)) WITHOUT ROWID;";

#define CUSTOMER "customer_key, app_key, reference, name, merged_into, merge_entry, token, folded"
#define ORIGINAL "original_key, environment, original_id, xcode_second, app_key"
#define TRANSACTION "transaction_key, original_key, environment, transaction_id, xcode_second, product_key, facts, evidence_key," \
    " known_at, kind, duration, token, owner_key, owner_reason, app_transaction_id"
#define BY_TRANSACTION "SELECT " TRANSACTION " FROM transactions WHERE environment = ?1 AND transaction_id = ?2 AND xcode_second = ?3"
#define BY_ORIGINAL "SELECT " ORIGINAL " FROM originals WHERE environment = ?1 AND original_id = ?2 AND xcode_second = ?3"
#define TRANSACTIONS(original) "SELECT " TRANSACTION " FROM transactions WHERE original_key = " original " ORDER BY transaction_key"
#define ACTS(original) "SELECT ownership_acts.original_key, entry_key, transaction_key, ownership_acts.customer_key, former_key, kind," \
    " merged_into FROM ownership_acts JOIN customers ON customers.customer_key = ownership_acts.customer_key WHERE original_key = " \
    original " ORDER BY entry_key, transaction_key"
#define RENEWALS {"SELECT beside, concern, facts FROM renewals WHERE environment = ?1 AND original_id = ?2", "2o"}
#define ORIGINALS {"SELECT " ORIGINAL " FROM originals WHERE environment = ?1 AND original_id = ?2", "2o"}
#define GRANTS(original) "SELECT * FROM hand_grants WHERE revoked_original = " original " ORDER BY grant_key"
#define ORDERS_OF(customer, product, quantity, at, limit) "SELECT * FROM (SELECT order_key, coalesce((SELECT target_key FROM" \
    " customer_moves WHERE customer_moves.customer_key = orders.customer_key), customer_key), product_key, quantity, expires_at, paid_by" \
    " FROM orders WHERE status = 'created' AND customer_key = " customer " AND product_key = " product " AND quantity = " quantity \
    " AND (expires_at, order_key) > (" at ", 0) ORDER BY expires_at, order_key LIMIT " limit ") AS open"
#define ORDERS(customer, product, quantity, at, limit) ORDERS_OF(customer, product, quantity, at, limit) " UNION ALL " \
    ORDERS_OF("(SELECT customer_key FROM customer_moves WHERE target_key = " customer ")", product, quantity, at, limit)
#define BALANCE_OF(customer, product, environment) "SELECT customer_key, product_key, environment, ground, kind, balance, shortfall," \
    " timeline, reason FROM entitlements WHERE customer_key = " customer " AND product_key = " product " AND environment = " environment
#define BALANCE(customer, product, environment) BALANCE_OF(customer, product, environment) " UNION ALL " \
    BALANCE_OF("(SELECT customer_key FROM customer_moves WHERE target_key = " customer ")", product, environment) \
    " UNION ALL SELECT seats.customer_key, seat_access.product_key, seat_access.environment, -seats.entry_key, 'auto_renewable', 0, 0," \
    " NULL, NULL FROM seats JOIN seat_access ON seat_access.original_key = seats.original_key WHERE seats.customer_key = " customer \
    " AND seat_access.product_key = " product " AND seat_access.environment = " environment
/* Keys that PostgreSQL looks up in the same round trip. */
#define THE_ORIGINAL "(SELECT q.c0 FROM (" BY_ORIGINAL ") AS q (c0) LIMIT 1)"
#define THE_TRANSACTION "(SELECT q.c0 FROM (" BY_TRANSACTION ") AS q (c0) LIMIT 1)"
#define THE_CUSTOMER "(SELECT q.c0 FROM (SELECT " CUSTOMER " FROM customers WHERE app_key = ?1 AND name = ?2) AS q (c0) LIMIT 1)"
#define THE_PRODUCT "(SELECT q.c0 FROM (SELECT product_key FROM products WHERE app_key = ?3 AND product_id = ?4) AS q (c0) LIMIT 1)"
#define THE_OWNER "(SELECT q.c12 FROM (" TRANSACTIONS(THE_ORIGINAL) ") AS q (c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12) LIMIT 1)"
#define OF_APP "(SELECT q.c0 FROM (SELECT product_key FROM products WHERE app_key = ?4 AND product_id = ?5) AS q (c0) LIMIT 1)"

#define NEW_CUSTOMER {"INSERT INTO customers (app_key, reference, name, merged_into, merge_entry, token, folded, customer_key)" \
    " VALUES (?1, ?2, ?3, NULL, NULL, NULL, NULL, ?4)", "*1rnc"}
#define NEW_ORIGINAL {"INSERT INTO originals (environment, original_id, xcode_second, app_key, original_key) VALUES (?1, ?2, ?3, ?4, ?5)"
#define NEW_ACT {"INSERT INTO ownership_acts (original_key, entry_key, transaction_key, customer_key, former_key, kind)" \
    " VALUES (?1, ?2, ?3, ?4, NULL, ?5)"
#define NEW_TRANSACTION {"INSERT INTO transactions (original_key, environment, transaction_id, xcode_second, product_key, facts," \
    " evidence_key, known_at, kind, duration, token, owner_key, owner_reason, app_transaction_id, transaction_key)" \
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL, NULL, ?10, ?11, ?12, ?13)", "O2t01fkqKcRpk"}
#define NEW_ACCESS(timeline, letters) {"INSERT INTO entitlements (customer_key, product_key, environment, ground, kind, balance, shortfall," \
    " timeline, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, " timeline ", NULL) ON CONFLICT (customer_key, product_key, environment," \
    " ground) DO UPDATE SET kind = excluded.kind, balance = excluded.balance, shortfall = excluded.shortfall, timeline =" \
    " excluded.timeline, reason = excluded.reason", letters}
#define NEW_EVENT {"INSERT INTO events (app_key, entry_key, type, customer_key, former_key, environment, product_key, transaction_key," \
    " original_key, order_key, figures, event_key) VALUES (?1, ?2, ?3, ?4, NULL, NULL, ?5, ?6, ?7, NULL, ?8, ?9)", "1kVc1kOuk"}
#define NEW_RENEWAL(beside) {"INSERT INTO renewals (environment, original_id, beside, concern, facts, evidence_key) VALUES (?1, ?2, ?3," \
    " ?4, ?5, ?6) ON CONFLICT (environment, original_id, beside, concern) DO UPDATE SET facts = excluded.facts, evidence_key =" \
    " excluded.evidence_key", "2o" beside "0xk"}
#define NEW_LOT {"INSERT INTO lots (ground, customer_key, product_key, environment, quantity, withdrawn, taken, available, purchased_at," \
    " reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", "kc121001Q_"}
#define PENDING {"INSERT INTO log_pending (entry_key) VALUES (?1)", "k"}
#define PRODUCT {"SELECT product_key FROM products WHERE app_key = ?1 AND product_id = ?2", "1m"}
#define ENTRY NEW_ENTRY("ilsd1ckkJFqak")

static const statement today_claim[] = {
    SCHEMA_NUMBER, EVIDENCE, NEW_EVIDENCE, {BY_TRANSACTION, "2t0"}, {BY_ORIGINAL, "2o0"}, PRODUCT,
    {"SELECT " CUSTOMER " FROM customers WHERE app_key = ?1 AND name = ?2", "1n"}, NEW_CUSTOMER,
    {ORDERS("?1", "?2", "?3", "?4", "16"), "c11q"}, NEW_ORIGINAL, "2o01O"}, NEW_TRANSACTION, NEW_LOT, {BALANCE("?1", "?2", "?3"), "c12"},
    NEW_ACCESS("NULL", "c120Kb0"), ENTRY, PENDING, NEW_ACT, "OkkcR"}, NEW_EVENT, {NULL, NULL}};
static const statement today_renewal[] = {
    SCHEMA_NUMBER, NOTIFICATION, EVIDENCE, NEW_EVIDENCE, {BY_TRANSACTION, "2t0"}, {BY_ORIGINAL, "2o0"},
    {"SELECT " ORIGINAL " FROM originals WHERE original_key = ?1", "O"}, {TRANSACTIONS("?1"), "O"},
    {"SELECT product_id FROM products WHERE product_key = ?1", "1"}, {ACTS("?1"), "O"}, RENEWALS, {GRANTS("?1"), "O"}, PRODUCT, RENEWALS,
    NEW_RENEWAL("_"), ORIGINALS, RENEWALS, NEW_RENEWAL("t"), ORIGINALS, {ORDERS("?1", "?2", "?3", "?4", "16"), "c11q"}, NEW_CUSTOMER,
    NEW_ORIGINAL, "*2o01O"}, NEW_TRANSACTION, NEW_ACCESS("?8", "c12OK00w"), {"SELECT " CUSTOMER " FROM customers WHERE customer_key = ?1", "c"},
    ENTRY, PENDING, NEW_NOTIFICATION, NEW_EVENT, NEW_ACT, "*OkkcR"}, {NULL, NULL}};
#define TODAYS_NUMBERS NUMBERS("s1"), NUMBERS("s2"), NUMBERS("s3"), NUMBERS("s4"), NUMBERS("s5")
#define TODAYS_READS EVIDENCE, {BY_TRANSACTION, "2t0"}, {BY_ORIGINAL, "2o0"}, PRODUCT, \
    {"SELECT " ORIGINAL " FROM originals WHERE original_key = " THE_ORIGINAL, "2o0"}, {TRANSACTIONS(THE_ORIGINAL), "2o0"}, \
    {ACTS(THE_ORIGINAL), "2o0"}, {GRANTS(THE_ORIGINAL), "2o0"}, \
    {"SELECT * FROM orders WHERE paid_by = " THE_TRANSACTION, "2t0"}, \
    {"SELECT " CUSTOMER " FROM customers JOIN (SELECT owner_key FROM transactions WHERE original_key = " THE_ORIGINAL \
     " UNION SELECT customer_key FROM ownership_acts WHERE original_key = " THE_ORIGINAL " UNION SELECT former_key FROM ownership_acts" \
     " WHERE original_key = " THE_ORIGINAL ") AS concerned (concerned_key) ON concerned_key = customer_key ORDER BY customer_key", "2o0"}
#define TODAYS_MARK {"SELECT pg_advisory_xact_lock_shared(3 | e.last_value), pg_advisory_xact_lock_shared(4 | n.last_value) FROM s1 AS e, s2 AS n", "."}
#define RENEWAL_READS TODAYS_NUMBERS, TODAYS_READS, RENEWALS, {BALANCE(THE_OWNER, OF_APP, "?6"), "2o01m2"}, \
    {ORDERS(THE_OWNER, OF_APP, "?6", "?7", "16"), "2o01m1q"}, ORIGINALS, NOTIFICATION
static const statement today_claim_begin[] = {
    BEGIN_PG, TODAYS_MARK, NUMBERS("s6"), TODAYS_NUMBERS, {"SELECT " CUSTOMER " FROM customers WHERE app_key = ?1 AND name = ?2", "1n"},
    TODAYS_READS, {"SELECT * FROM lots WHERE ground = " THE_ORIGINAL, "2o0"},
    {"SELECT customer_key, units FROM takes WHERE ground = " THE_ORIGINAL, "2o0"}, {BALANCE(THE_CUSTOMER, THE_PRODUCT, "?5"), "1n1m2"},
    {ORDERS(THE_CUSTOMER, THE_PRODUCT, "?5", "?6", "16"), "1n1m1q"},
    {"SELECT entry_key FROM journal WHERE transaction_key = " THE_TRANSACTION " AND kind = 3 AND customer_key = (SELECT q.c0 FROM"
     " (SELECT " CUSTOMER " FROM customers WHERE app_key = ?4 AND name = ?5) AS q (c0) LIMIT 1) LIMIT 1", "2t01n"}, {NULL, NULL}};
static const statement today_claim_write[] = {
    NEW_EVIDENCE, NEW_CUSTOMER, NEW_ORIGINAL, "2o01O"}, NEW_TRANSACTION, NEW_LOT, NEW_ACCESS("NULL", "c120Kb0"), ENTRY, PENDING,
    NEW_ACT, "OkkcR"}, NEW_EVENT, {NULL, NULL}};
static const statement today_renewal_begin[] = {BEGIN_PG, TODAYS_MARK, RENEWAL_READS, {NULL, NULL}};
static const statement today_renewal_late[] = {LATE_PG, RENEWAL_READS, {NULL, NULL}};
static const statement today_renewal_write[] = {
    NEW_EVIDENCE, NEW_RENEWAL("_"), NEW_RENEWAL("t"), NEW_CUSTOMER, NEW_ORIGINAL, "*2o01O"}, NEW_TRANSACTION,
    NEW_ACCESS("?8", "c12OK00w"), ENTRY, PENDING, NEW_NOTIFICATION, NEW_EVENT, NEW_ACT, "*OkkcR"}, {NULL, NULL}};
static const statement today_seal[] = {
    SEAL, {"SELECT log_pending.entry_key, journal.leaf, journal.entry_id, journal.mac, journal.salt, journal.details, log_entries.leaf FROM"
           " log_pending LEFT JOIN journal ON journal.entry_key = log_pending.entry_key LEFT JOIN log_entries ON log_entries.entry_key ="
           " log_pending.entry_key WHERE log_pending.entry_key > 0 ORDER BY log_pending.entry_key LIMIT 256", "."},
    {"DELETE FROM log_pending WHERE entry_key = ?1", "k"}, {NULL, NULL}};

/* MARK: the shelf */

static const char shelf_schema[] =
    "CREATE TABLE customers (customer INTEGER PRIMARY KEY, app INTEGER NOT NULL, name TEXT, state BLOB NOT NULL, UNIQUE (app, name));"
    "CREATE TABLE purchases (ground INTEGER PRIMARY KEY, app INTEGER NOT NULL, state BLOB NOT NULL);"
    "CREATE TABLE shelf (customer INTEGER NOT NULL, list INTEGER NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, c INTEGER NOT NULL,"
    " d INTEGER NOT NULL, v INTEGER, w INTEGER, state BLOB, PRIMARY KEY (customer, list, a, b, c, d)) WITHOUT ROWID;"
    "CREATE TABLE transaction_ids (id INTEGER PRIMARY KEY, ground INTEGER NOT NULL);"
    "CREATE TABLE downloads (environment INTEGER NOT NULL, download INTEGER NOT NULL, ground INTEGER NOT NULL,"
    " PRIMARY KEY (environment, download, ground)) WITHOUT ROWID;"
    "CREATE TABLE news (app INTEGER NOT NULL, entry INTEGER NOT NULL, part INTEGER NOT NULL, events BLOB NOT NULL,"
    " PRIMARY KEY (app, entry, part)) WITHOUT ROWID;";

#define VALUE {"SELECT app, state FROM purchases WHERE ground = ?1", "g"}
#define NEW_VALUE {"INSERT INTO purchases (ground, app, state) VALUES (?1, ?2, ?3) ON CONFLICT (ground) DO UPDATE SET app = excluded.app," \
    " state = excluded.state", "g1v"}
#define NEW_NAME {"INSERT INTO customers (customer, app, name, state) VALUES (?1, ?2, ?3, ?4)", "*C1nZ"}
#define NEW_IDS {"INSERT INTO transaction_ids (id, ground) VALUES (?1, ?2)"
#define NEW_DOWNLOAD {"INSERT INTO downloads (environment, download, ground) VALUES (?1, ?2, ?3)"
#define NEWS {"INSERT INTO news (app, entry, part, events) VALUES (?1, ?2, ?3, ?4)", "1k0U"}
#define ROW(state, letters) {"INSERT INTO shelf (customer, list, a, b, c, d, v, w, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, " state ")" \
    " ON CONFLICT (customer, list, a, b, c, d) DO UPDATE SET v = excluded.v, w = excluded.w, state = excluded.state", letters}
#define SHELF_ENTRY NEW_ENTRY("ilsD1CgEJFqak")
#define SHELF_READ "SELECT a, b, c, d, v, w, state FROM shelf WHERE customer = ?1 AND list = "
#define JOINED "SELECT a, b, c, d, v, w, s.state FROM customers AS n JOIN shelf AS s ON s.customer = n.customer WHERE n.app = ?1 AND" \
    " n.name = ?2 AND list = "
#define CLAIM_ROWS NEW_VALUE, NEW_IDS, "~Tg"}, NEW_DOWNLOAD, "+2Pg"}, ROW("NULL", "C3qg0000"), ROW("NULL", "C6M4Qg1q"), ROW("NULL", "C2M200b0"), \
    ROW("NULL", "C4qk0010"), SHELF_ENTRY, NEWS
#define RENEWAL_ROWS NEW_VALUE, NEW_IDS, "Tg"}, NEW_DOWNLOAD, "*2Pg"}, ROW("NULL", "*C3qg0000"), ROW("?9", "C1M2g01Xw"), ROW("NULL", "C5qk0012"), \
    SHELF_ENTRY, NEW_NOTIFICATION, NEWS

static const statement shelf_claim[] = {
    SCHEMA_NUMBER, EVIDENCE, VALUE, {"SELECT customer, state FROM customers WHERE app = ?1 AND name = ?2", "1n"},
    {SHELF_READ "2 AND a = ?2 AND b = ?3 AND c = 0 AND d = 0", "CM2"}, {SHELF_READ "8 AND a = ?2 AND b > ?3 ORDER BY b, c LIMIT 16", "CMq"},
    NEW_EVIDENCE, NEW_NAME, CLAIM_ROWS, {NULL, NULL}};
static const statement shelf_renewal[] = {
    SCHEMA_NUMBER, NOTIFICATION, EVIDENCE, VALUE, {"SELECT customer, name, state FROM customers WHERE customer = ?1", "C"},
    {SHELF_READ "8 AND a = ?2 AND b > ?3 ORDER BY b, c LIMIT 16", "CMq"}, NEW_EVIDENCE, NEW_NAME, RENEWAL_ROWS, {NULL, NULL}};
#define MARK {"SELECT pg_advisory_xact_lock_shared(3 | last_value) FROM s1", "."}, NUMBERS("s1")
static const statement shelf_claim_begin[] = {
    BEGIN_PG, MARK, EVIDENCE, VALUE, {"SELECT customer, state FROM customers WHERE app = ?1 AND name = ?2", "1n"},
    {JOINED "2 AND a = ?3 AND b = ?4 AND c = 0 AND d = 0", "1nM2"}, {JOINED "8 AND a = ?3 AND b > ?4 ORDER BY b, c LIMIT 16", "1nMq"},
    {NULL, NULL}};
static const statement shelf_claim_write[] = {NEW_EVIDENCE, NEW_NAME, CLAIM_ROWS, {NULL, NULL}};
static const statement shelf_renewal_begin[] = {BEGIN_PG, MARK, NOTIFICATION, EVIDENCE, VALUE, {NULL, NULL}};
static const statement shelf_renewal_late[] = {
    LATE_PG, NUMBERS("s1"), NOTIFICATION, EVIDENCE, VALUE, {"SELECT customer, name, state FROM customers WHERE customer = ?1", "C"},
    {SHELF_READ "8 AND a = ?2 AND b > ?3 ORDER BY b, c LIMIT 16", "CMq"}, {NULL, NULL}};
static const statement shelf_renewal_write[] = {NEW_EVIDENCE, NEW_NAME, RENEWAL_ROWS, {NULL, NULL}};
static const statement shelf_seal[] = {
    SEAL, {"SELECT entry_key, leaf, entry_id, mac, salt, details FROM journal WHERE entry_key > (SELECT sealed_up_to - 256 FROM log_state)"
           " ORDER BY entry_key LIMIT 256", "."}, {NULL, NULL}};

/* MARK: values */

/* Sizes as in the ledger of 01f078e2 with minted evidence; a value has 120 bytes and 100 for each period. */
static void fill(value *of, int64_t entry, int64_t id, int64_t first_id, int64_t original, int64_t customer, int64_t first, int64_t balance,
                 int64_t period, int is_renewal) {
    int64_t at = 1700000000000 + entry * 20;
    for (int digit = 0; digit < 10; digit++) of['0' + digit] = number(digit);
    of['k'] = number(entry), of['j'] = number(entry - 1), of['E'] = number(entry * 4096 + 2), of['O'] = number(original);
    of['c'] = number(customer), of['C'] = number(first * 4096 + 1), of['n'] = text("customer-%08x", (unsigned)(customer * 2654435761u));
    of['t'] = text("%lld", (long long)id), of['o'] = text("%lld", (long long)first_id);
    of['T'] = number(2ll << 60 | id), of['g'] = number(2ll << 60 | first_id), of['M'] = number(0x2A5C3F1D9E8B7A61);
    of['p'] = text("%lld", 700000000000000000 + (long long)customer), of['P'] = number(700000000000000000 + customer);
    of['q'] = number(at), of['Q'] = number(at - 60000), of['X'] = number(at + 2592000000), of['b'] = number(balance);
    of['K'] = fixed(is_renewal ? "auto_renewable" : "consumable"), of['R'] = fixed("claim"), of['F'] = fixed("accepted"), of['_'] = fixed("");
    of['V'] = fixed(is_renewal ? "renewed" : "granted"), of['m'] = fixed("com.example.app.coins");
    of['H'] = (value){'b', 32, 0, "the certificates that most share"};
    of['h'] = fresh(32), of['i'] = fresh(16), of['r'] = fresh(16), of['s'] = fresh(16), of['a'] = fresh(32);
    memcpy((char *)of['i'].bytes, &(int64_t){htobe64(at << 16)}, 6);
    of['y'] = text("%016llx-%019llx", (long long)drawn(), (long long)drawn());
    of['e'] = bytes(is_renewal ? 448 : 163), of['z'] = number(is_renewal ? 13289 : 3718), of['l'] = bytes(139), of['Z'] = bytes(40);
    of['d'] = bytes(is_renewal ? 231 : 84), of['D'] = bytes(is_renewal ? 265 : 118); /* and the hash of the events */
    of['f'] = bytes(is_renewal ? 190 : 169), of['x'] = bytes(56), of['w'] = bytes(97);
    of['u'] = bytes(is_renewal ? 12 : 9), of['U'] = bytes(48), of['v'] = bytes(220 + 100 * period);
    of['J'] = number(is_renewal ? 23 : 3), of['B'] = bytes(8192);
}

static const layout layouts[] = {
    {"today", today_schema, NULL, {today_claim, today_renewal}, {today_claim_begin, today_renewal_begin}, {nothing, today_renewal_late},
     {today_claim_write, today_renewal_write}, today_seal},
    {"shelf", shelf_schema, NULL, {shelf_claim, shelf_renewal}, {shelf_claim_begin, shelf_renewal_begin}, {nothing, shelf_renewal_late},
     {shelf_claim_write, shelf_renewal_write}, shelf_seal},
    {"lean", shelf_schema, "DROP INDEX journal_by_transaction", {shelf_claim, shelf_renewal}, {shelf_claim_begin, shelf_renewal_begin}, {nothing, shelf_renewal_late},
     {shelf_claim_write, shelf_renewal_write}, shelf_seal}};
