/* What the rows of a purchase and of a renewal cost, in the tables of today and in those of the shelf (layouts.h): SQLite through its
   C interface, PostgreSQL through libpq's pipeline. Nothing is verified, hashed, compressed or decided. The layouts take turns in
   slices over the same values; a figure is the median of the slices of the last third, when the tables have their size.

       floors ENGINE PURCHASES PERIODS ROUNDS PLACE

   ENGINE is sqlite, with a folder as PLACE, or postgresql, with the connection to an empty server. PERIODS is 0 for consumables;
   otherwise PURCHASES are the periods of subscriptions, which come by notification. A line for each layout has its name and, for a
   purchase: µs of the thread, µs of PostgreSQL's process or of them in the kernel, frames or bytes of the write-ahead log, bytes kept, and statements. */
#define _GNU_SOURCE
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 32, SEALED = 256, RANGES = 60, MOST = 48, SLICES = 4096, POOL = 1 << 20, ARENA = 16 << 20, LAYOUTS = 3 };

typedef struct { char kind; int size; int64_t number; const char *bytes; } value; /* kind: i integer, t text, b bytes */
typedef struct { value of[128]; } purchase;                                       /* values by their letter in layouts.h */
typedef struct { const char *sql, *values; } statement;
/* The statements of a consumable and of a renewal: SQLite's; PostgreSQL's trips until the rows are known, and the writes. */
typedef struct {
    const char *name;
    const char *schema, *lean; /* what the lean shelf changes */
    const statement *sqlite[2], *begin[2], *late[2], *write[2], *seal;
} layout;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "floors: %s: %s\n", what, why);
    exit(1);
}

/* MARK: values */

static uint64_t seed = 7;
static uint64_t drawn(void) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed * 0x2545F4914F6CDD1Dull >> 11;
}

static char pool[POOL], arena[ARENA];
static size_t arena_used;

static value number(int64_t number) { return (value){'i', 8, number, NULL}; }
static value fixed(const char *text) { return (value){'t', strlen(text), 0, text}; }
static value bytes(int size) { return (value){'b', size, 0, pool + drawn() % (POOL - size)}; }

/* Bytes that no other value has; a multiple of 8. */
static value fresh(int size) {
    value made = {'b', size, 0, arena + arena_used};
    if (arena_used + size > ARENA) fail("memory", "the values of a slice are too large");
    for (; size; size -= 8, arena_used += 8) memcpy(arena + arena_used, &(uint64_t){drawn() << 32 ^ drawn()}, 8);
    return made;
}

static value text(const char *format, ...) {
    va_list list;
    va_start(list, format);
    value made = {'t', 0, 0, fresh(64).bytes};
    made.size = vsnprintf((char *)made.bytes, 64, format, list);
    va_end(list);
    return made;
}

static const statement nothing[] = {{NULL, NULL}};
#include "layouts.h"

/* MARK: engines */

typedef struct engine {
    const layout *layout;
    int kind; /* 0 consumables, 1 renewals */
    sqlite3 *file;
    sqlite3_stmt *prepared[2][MOST], *begin, *commit; /* of purchases, of the seal */
    PGconn *connection;
    long statements;
    double thread[SLICES], other[SLICES], wal[SLICES], kept;
} engine;

static void run_sql(sqlite3 *file, const char *text) {
    if (sqlite3_exec(file, text, NULL, NULL, NULL)) fail(text, sqlite3_errmsg(file));
}

static sqlite3_stmt *prepared(sqlite3 *file, const char *text) {
    sqlite3_stmt *made;
    if (sqlite3_prepare_v3(file, text, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL)) fail(text, sqlite3_errmsg(file));
    return made;
}

static const statement *statements_of(const engine *engine, int seal) { return seal ? engine->layout->seal : engine->layout->sqlite[engine->kind]; }

/* With the settings of the server's writer (SQLiteDatabase.prepareWriter). */
static void open_file(engine *engine, const char *folder) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.sqlite", folder, engine->layout->name);
    if (sqlite3_open_v2(path, &engine->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)) fail(path, "cannot be opened");
    run_sql(engine->file, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;"
                          "PRAGMA wal_autocheckpoint = 12000; PRAGMA cache_size = -65536");
    run_sql(engine->file, common_schema), run_sql(engine->file, engine->layout->schema), run_sql(engine->file, sqlite_triggers);
    if (engine->layout->lean) run_sql(engine->file, engine->layout->lean);
    engine->begin = prepared(engine->file, "BEGIN IMMEDIATE"), engine->commit = prepared(engine->file, "COMMIT");
    for (int seal = 0; seal < 2; seal++)
        for (int at = 0; statements_of(engine, seal)[at].sql; at++)
            engine->prepared[seal][at] = prepared(engine->file, statements_of(engine, seal)[at].sql);
}

static int64_t sink;

/* Binds values, reads all columns of all rows, and resets. */
static void step(engine *engine, sqlite3_stmt *statement, const char *letters, const purchase *purchase) {
    int place = 0, result;
    for (; *letters; letters++) {
        const value *value = &purchase->of[(int)*letters];
        if (value->kind == 'i') sqlite3_bind_int64(statement, ++place, value->number);
        else if (value->kind == 't') sqlite3_bind_text(statement, ++place, value->bytes, value->size, SQLITE_STATIC);
        else sqlite3_bind_blob(statement, ++place, value->bytes, value->size, SQLITE_STATIC);
    }
    while ((result = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = sqlite3_column_count(statement); column--;)
            if (sqlite3_column_type(statement, column) == SQLITE_INTEGER) sink += sqlite3_column_int64(statement, column);
            else sink += (intptr_t)sqlite3_column_blob(statement, column) + sqlite3_column_bytes(statement, column);
    if (result != SQLITE_DONE) fail(sqlite3_sql(statement), sqlite3_errmsg(engine->file));
    sqlite3_reset(statement);
    engine->statements++;
}

/* Whether a statement is left out: 1 for this purchase, 2 for all. */
static int is_left_out(const engine *engine, const char *letters, const purchase *purchase) {
    int is_lean = engine->layout->lean != NULL;
    return *letters == '~' ? 2 * is_lean : (*letters == '*' || (*letters == '+' && is_lean)) && !purchase->of['*'].number;
}
static int is_marked(const char *letters) { return *letters && strchr("*~#+", *letters) != NULL; }

static void sqlite_batch(engine *engine, int seal, const purchase *purchases, int count) {
    const statement *statements = statements_of(engine, seal);
    step(engine, engine->begin, "", NULL);
    for (int each = 0; each < count; each++)
        for (int at = 0; statements[at].sql; at++) {
            const char *letters = statements[at].values;
            if ((*letters == '.' || *letters == '#') && each) continue;
            if (!is_left_out(engine, letters, &purchases[each]))
                step(engine, engine->prepared[seal][at], *letters == '.' ? "" : letters + is_marked(letters), &purchases[each]);
        }
    step(engine, engine->commit, "", NULL);
}

static PGresult *require(PGconn *connection, PGresult *result, const char *what) {
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(what, PQerrorMessage(connection));
    return result;
}

/* Text up to an end, with the parameters ?1, ?2… under other names. */
static char *named(char *out, const char *text, const char *end, const char *name) {
    for (; text < end; text++)
        if (*text == '?') out = stpcpy(out, name);
        else *out++ = *text;
    *out = 0;
    return out;
}

/* The server's form of a statement for lists of values (ReadShape.listSQL, PostgreSQLInsertion). */
static void list_form(char *out, const char *sql, const char *letters, const purchase *example) {
    char lists[512], names[256], *list = lists, *name = names;
    for (int count = 0; *letters; letters++, count++) {
        char kind = example->of[(int)*letters].kind;
        list += sprintf(list, "%s$%d::%s[]", count ? ", " : "", count + 1, kind == 'i' ? "bigint" : kind == 't' ? "text" : "bytea");
        name += sprintf(name, "%sv%d", count ? ", " : "", count + 1);
    }
    const char *values = strstr(sql, " VALUES ("), *end = values ? strchr(values, ')') : sql + strlen(sql);
    if (values) {
        out = named(stpcpy(named(out, sql, values, "v"), " SELECT "), values + 9, end, "v");
        sprintf(out, " FROM unnest(%s) AS p (%s)%s", lists, names, end + 1);
    } else if (*sql == 'D') sprintf(out, "%.*s ANY ($1::bigint[])", (int)(strlen(sql) - 2), sql);
    else {
        out += sprintf(out, "SELECT p.place, r.* FROM unnest(%s) WITH ORDINALITY AS p (%s, place) CROSS JOIN LATERAL (", lists, names);
        strcpy(named(out, sql, end, "p.v"), " OFFSET 0) AS r");
    }
}

static void prepare(engine *engine, const char *prefix, const statement *statements, const purchase *example) {
    char text[8192], name[16];
    for (int at = 0; statements[at].sql; at++) {
        const char *sql = statements[at].sql, *letters = statements[at].values;
        if (strchr(".!", *letters)) named(text, sql, sql + strlen(sql), "$");
        else list_form(text, sql, letters + is_marked(letters), example);
        snprintf(name, sizeof name, "%s%d", prefix, at);
        PQclear(require(engine->connection, PQprepare(engine->connection, name, text, 0, NULL), text));
    }
}

/* The server's types (PostgreSQLDialect.definition). */
static void define(PGconn *connection, const char *schema) {
    static const char *const words[][2] = {{"INTEGER", "BIGINT"}, {"BLOB", "BYTEA"}, {"TEXT", "TEXT COLLATE \"C\""}, {" WITHOUT ROWID", ""}};
    char own[32768], *out = own;
    while (*schema) {
        int word = 0;
        while (word < 4 && strncmp(schema, words[word][0], strlen(words[word][0]))) word++;
        if (word < 4) out = stpcpy(out, words[word][1]), schema += strlen(words[word][0]);
        else *out++ = *schema++;
    }
    *out = 0;
    PQclear(require(connection, PQexec(connection, own), own));
}

static PGconn *control;

static PGconn *connected(const char *place, const char *database) {
    char info[1200];
    snprintf(info, sizeof info, "%s dbname=%s options='-c plan_cache_mode=force_generic_plan -c client_min_messages=error'", place, database);
    PGconn *connection = PQconnectdb(info);
    if (PQstatus(connection) != CONNECTION_OK) fail(place, PQerrorMessage(connection));
    return connection;
}

static double answer(const char *format, const char *name) {
    char question[256];
    snprintf(question, sizeof question, format, name);
    PGresult *result = require(control, PQexec(control, question), question);
    double found = PQntuples(result) ? atof(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    return found;
}

static void open_database(engine *engine, const char *place, const purchase *example) {
    answer("DROP DATABASE IF EXISTS %s", engine->layout->name), answer("CREATE DATABASE %s TEMPLATE template0", engine->layout->name);
    engine->connection = connected(place, engine->layout->name);
    define(engine->connection, common_schema), define(engine->connection, engine->layout->schema);
    define(engine->connection, postgresql_triggers);
    if (engine->layout->lean) define(engine->connection, engine->layout->lean);
    prepare(engine, "b", engine->layout->begin[engine->kind], example), prepare(engine, "l", engine->layout->late[engine->kind], example);
    prepare(engine, "w", engine->layout->write[engine->kind], example), prepare(engine, "s", engine->layout->seal, example);
    if (!PQenterPipelineMode(engine->connection)) fail("pipeline", PQerrorMessage(engine->connection));
    engine->kept = -answer("SELECT pg_database_size('%s')", engine->layout->name);
}

/* A list in PostgreSQL's binary format, of the values of all purchases or of those with a new customer; NULL if there is none. */
static char *list_of(char *out, const value *value, size_t stride, int count, const purchase *only_new) {
    uint32_t head[5] = {htobe32(1), 0, htobe32(value->kind == 'i' ? 20 : value->kind == 't' ? 25 : 17), 0, htobe32(1)}, found = 0;
    char *start = out;
    out += sizeof head;
    for (int each = 0; each < count; each++, value += stride) {
        if (only_new && !only_new[each].of['*'].number) continue;
        memcpy(out, &(uint32_t){htobe32(value->size)}, 4);
        if (value->kind == 'i') memcpy(out + 4, &(uint64_t){htobe64(value->number)}, 8);
        else memcpy(out + 4, value->bytes, value->size);
        out += 4 + value->size, found++;
    }
    head[3] = htobe32(found);
    memcpy(start, head, sizeof head);
    return found ? out : NULL;
}

static int plain(engine *engine, const char *text) {
    if (!PQsendQueryParams(engine->connection, text, 0, NULL, NULL, NULL, NULL, 1)) fail(text, PQerrorMessage(engine->connection));
    return 1;
}

static int send_all(engine *engine, const char *prefix, const statement *statements, const purchase *purchases, int all) {
    static char buffer[64 << 20];
    const layout *layout = engine->layout;
    int sent = 0;
    for (int at = 0; statements[at].sql; at++) {
        const char *letters = statements[at].values, *values[16];
        int lengths[16], formats[16], count = 0, rows = *letters == '#' ? 1 : all;
        char *out = buffer, name[16];
        if (is_left_out(engine, letters, purchases) == 2) continue;
        if (*letters == '!') { /* three locks for each, in order as after sorting */
            value locks[3 * BATCH];
            for (int each = 0; each < 3 * BATCH; each++) locks[each] = number((int64_t)each << 53 | drawn());
            values[0] = buffer, formats[0] = 1, count = 1, lengths[0] = list_of(buffer, locks, 1, 3 * BATCH, NULL) - buffer;
        } else if (*letters != '.') {
            const purchase *only_new = *letters == '*' || (*letters == '+' && layout->lean) ? purchases : NULL;
            letters += is_marked(letters);
            int differ = *statements[at].sql != 'S'; /* equal reads are made once */
            for (const char *letter = letters; *letter && !differ; letter++)
                differ = purchases[0].of[(int)*letter].bytes != purchases[1].of[(int)*letter].bytes ||
                         purchases[0].of[(int)*letter].number != purchases[1].of[(int)*letter].number;
            for (; *letters && out; letters++, count++) {
                char *end = list_of(out, &purchases->of[(int)*letters], sizeof(purchase) / sizeof(value), differ ? rows : 1, only_new);
                values[count] = out, lengths[count] = end - out, formats[count] = 1;
                out = end;
            }
            if (!out) continue;
        }
        snprintf(name, sizeof name, "%s%d", prefix, at);
        if (!PQsendQueryPrepared(engine->connection, name, count, values, lengths, formats, 1)) fail(name, PQerrorMessage(engine->connection));
        sent++;
    }
    return sent;
}

/* The end of a round trip: reads all columns of all rows. */
static void receive(engine *engine, int count) {
    if (!PQpipelineSync(engine->connection)) fail("sync", PQerrorMessage(engine->connection));
    engine->statements += count;
    for (PGresult *result; count--;)
        while ((result = PQgetResult(engine->connection))) {
            require(engine->connection, result, "a statement of a batch");
            for (int row = PQntuples(result); row--;)
                for (int column = PQnfields(result); column--;) sink += *PQgetvalue(result, row, column) + PQgetlength(result, row, column);
            PQclear(result);
        }
    for (int ended = 0; !ended;) {
        PGresult *result = PQgetResult(engine->connection);
        ended = result && PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        PQclear(result);
    }
}

/* Round trips: locks and reads; for renewals, whose owner is then known, the owner's lock and the reads again; rows and commit. */
static void pg_batch(engine *engine, int seal, const purchase *purchases, int count) {
    const layout *layout = engine->layout;
    int sent = plain(engine, "BEGIN ISOLATION LEVEL READ COMMITTED");
    if (!seal) {
        receive(engine, sent + send_all(engine, "b", layout->begin[engine->kind], purchases, count));
        if ((sent = send_all(engine, "l", layout->late[engine->kind], purchases, count))) receive(engine, sent);
        sent = send_all(engine, "w", layout->write[engine->kind], purchases, count);
    } else sent += send_all(engine, "s", layout->seal, purchases, count);
    receive(engine, sent + plain(engine, "COMMIT"));
}

/* MARK: purchases */

/* The ids of 60 ranges: each ascends, and they alternate at random, as real ids do. */
static int64_t ranges[RANGES];
static int64_t next_id(void) { return ranges[drawn() % RANGES] += 1 + drawn() % 5000; }

/* Consumables of people, four for each, or the periods of a subscription for each, in an order that changes each time. */
static struct { int64_t id, original, first, customer, balance, batch; } *people;
static int *order, count_of_people, customers;

static void draw(purchase *purchase, int64_t entry, int periods) {
    int64_t batch = (entry - 1) / BATCH + 1, at = (entry - 1) % count_of_people, id = next_id();
    int who;
    if (periods && !at)
        for (int left = count_of_people; left > 1; left--) {
            int other = drawn() % left, kept = order[left - 1];
            order[left - 1] = order[other], order[other] = kept;
        }
    do who = periods ? order[at] : (int)(drawn() % count_of_people);
    while (people[who].batch == batch);
    purchase->of['*'] = number(!people[who].first);
    if (!people[who].first) people[who].first = entry, people[who].customer = ++customers;
    if (!people[who].original || !periods) people[who].original = entry, people[who].id = id;
    people[who].batch = batch, people[who].balance++;
    fill(purchase->of, entry, id, people[who].id, people[who].original, people[who].customer, people[who].first, people[who].balance,
         periods ? (entry - 1) / count_of_people : 0, periods > 0);
}

/* MARK: measuring */

static double clock_of(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time)) fail("clock_gettime", "no such clock");
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* The time of PostgreSQL's process, or what the kernel took of the time of this thread. */
static double theirs(engine *engine) {
    struct rusage usage;
    if (engine->connection) return clock_of((clockid_t)(~PQbackendPID(engine->connection) << 3 | 2));
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_stime.tv_sec * 1e6 + usage.ru_stime.tv_usec;
}

static double wal(engine *engine) {
    int pages, most;
    if (engine->connection) return answer("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn%s", "");
    sqlite3_db_status(engine->file, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 0);
    return pages;
}

static void measure(engine *engine, const purchase *purchases, int count, int slice) {
    void (*const batch)(struct engine *, int, const purchase *, int) = engine->connection ? pg_batch : sqlite_batch;
    double written = wal(engine), thread = clock_of(CLOCK_THREAD_CPUTIME_ID), other = theirs(engine);
    for (int done = BATCH; done <= count; done += BATCH) {
        batch(engine, 0, purchases + done - BATCH, BATCH);
        if (done % SEALED == 0) batch(engine, 1, purchases + done - SEALED, SEALED);
    }
    engine->thread[slice] = (clock_of(CLOCK_THREAD_CPUTIME_ID) - thread) / count;
    engine->other[slice] = (theirs(engine) - other) / count;
    engine->wal[slice] = (wal(engine) - written) / count;
}

static int by_size(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static double median(double *of, int count) {
    qsort(of, count, sizeof *of, by_size);
    return of[count / 2];
}

int main(int count, char **arguments) {
    if (count != 6) fail("usage", "floors ENGINE PURCHASES PERIODS ROUNDS PLACE");
    int is_file = !strcmp(arguments[1], "sqlite"), total = atoi(arguments[2]), periods = atoi(arguments[3]), rounds = atoi(arguments[4]);
    const char *place = arguments[5];
    int slice = total >= 96 * BATCH * 9 ? 96 * BATCH : 8 * BATCH, slices = total / slice, counted = 0;
    static engine engines[LAYOUTS];
    purchase *purchases = calloc(slice, sizeof *purchases);
    for (int at = 0; at < POOL; at += 8) memcpy(pool + at, &(uint64_t){drawn() << 32 ^ drawn()}, 8);
    if (!is_file) control = connected(place, "postgres");
    for (int round = 0; round < rounds; round++) {
        count_of_people = periods ? total / periods / BATCH * BATCH : total / 4, customers = 0;
        people = calloc(count_of_people, sizeof *people), order = calloc(count_of_people, sizeof *order);
        for (int each = 0; each < count_of_people; each++) order[each] = each;
        for (int range = 0; range < RANGES; range++) ranges[range] = (20 + range) * 10000000000000 + drawn() % 10000000000;
        for (int now = 0; now < slices; now++) {
            arena_used = 0;
            for (int each = 0; each < slice; each++) draw(&purchases[each], (int64_t)now * slice + each + 1, periods);
            for (int turn = 0; turn < LAYOUTS; turn++) {
                engine *engine = &engines[(turn + now) % LAYOUTS];
                if (!now) {
                    engine->layout = &layouts[(turn + now) % LAYOUTS], engine->kind = periods > 0, engine->statements = 0;
                    if (is_file) open_file(engine, place);
                    else open_database(engine, place, purchases);
                }
                /* Plans that were made for empty tables end, as after an ANALYZE of autovacuum. */
                if (!is_file && (now == 1 || now == slices / 3)) receive(engine, plain(engine, "ANALYZE"));
                measure(engine, purchases, slice, now < slices * 2 / 3 ? SLICES - 1 : counted);
            }
            counted += now >= slices * 2 / 3;
        }
        for (int each = 0; each < LAYOUTS; each++) {
            engine *engine = &engines[each];
            if (is_file) {
                char path[1024];
                struct stat status;
                snprintf(path, sizeof path, "%s/%s.sqlite", place, engine->layout->name);
                for (int at = 0; at < 2 * MOST; at++) sqlite3_finalize(engine->prepared[at / MOST][at % MOST]), engine->prepared[at / MOST][at % MOST] = NULL;
                sqlite3_finalize(engine->begin), sqlite3_finalize(engine->commit);
                if (sqlite3_close(engine->file) || stat(path, &status) || unlink(path)) fail(path, "cannot be closed");
                engine->kept = status.st_size;
            } else {
                engine->kept += answer("SELECT pg_database_size('%s')", engine->layout->name);
                PQfinish(engine->connection), answer("DROP DATABASE %s", engine->layout->name);
            }
        }
        free(people), free(order);
    }
    for (int each = 0; each < LAYOUTS; each++)
        printf("%s %.2f %.2f %.2f %.0f %.2f\n", engines[each].layout->name, median(engines[each].thread, counted),
               median(engines[each].other, counted), median(engines[each].wal, counted), engines[each].kept / (slices * slice),
               (double)engines[each].statements / (slices * slice));
    return sink == 1;
}
