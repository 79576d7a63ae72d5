import CPostgreSQL
import Foundation

/// The connection settings: a URL of libpq, and the limits of the ledger.
struct PostgreSQLSettings: Sendable {
    /// A purchase takes milliseconds; a statement that takes this long hangs.
    private static let statementSeconds = 60
    /// How long writes of one customer wait for each other.
    private static let lockSeconds = 10
    /// The time after which PostgreSQL ends the transaction of a server that stopped in the middle of it.
    private static let idleSeconds = 15
    /// Without a limit, libpq waits forever.
    private static let connectSeconds = 5

    /// The URL in the form that libpq accepts.
    let url: String
    /// Whether statements are prepared once for each connection. This does not work behind a pooler that gives each
    /// transaction another connection.
    let preparesStatements: Bool
    /// Whether an engine that is not known to keep the ledger's promises is refused.
    let checksEngine: Bool
    /// The schema of the ledger, once a connection has found it.
    let home = PostgreSQLHome()

    /// Reads a URL.
    ///
    /// - Parameter url: `postgres://…` or `postgresql://…` as libpq documents it ("Connection URIs"), with the
    ///   parameters `assay_prepared_statements=off` and `assay_unsupported_engine=on`.
    /// - Throws: `unavailable` if libpq cannot read it.
    init(_ url: String) throws(LedgerStorageError) {
        var url = url
        var (isPrepared, isChecked) = (true, true)
        if let mark = url.firstIndex(of: "?") {
            var kept: [Substring] = []
            for part in url[url.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: true) {
                switch part {
                case "assay_prepared_statements=off": isPrepared = false
                case "assay_prepared_statements=on": isPrepared = true
                case "assay_unsupported_engine=on": isChecked = false
                default: kept.append(part)
                }
            }
            url = String(url[..<mark]) + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
        }
        (self.url, preparesStatements, checksEngine) = (url, isPrepared, isChecked)
        _ = try given()
    }

    /// The time limits in the form that a transaction sets, for poolers that do not pass on connection settings.
    var limits: [LedgerStatement] {
        guard !preparesStatements else { return [] }
        return Self.limits.map { LedgerStatement("SET LOCAL \($0.0) = \($0.1)", []) }
    }

    private static let limits = [
        ("statement_timeout", statementSeconds * 1000), ("lock_timeout", lockSeconds * 1000),
        ("idle_in_transaction_session_timeout", idleSeconds * 1000),
    ]

    /// The parameters with which libpq connects. A value that the URL or a `PG…` variable sets takes precedence.
    ///
    /// - Parameter isWriter: whether each statement is planned once. The statements of a write find rows by keys
    ///   whatever the values.
    func parameters(isWriter: Bool) -> [(String, String)] {
        var given: [String: String] = [:]
        // The URL was parsed when the settings were created.
        do throws(LedgerStorageError) { given = try self.given() } catch { given = [:] }
        var parameters = [
            ("dbname", url), ("fallback_application_name", "assay"), ("client_encoding", "UTF8"),
        ]
        let environment = ProcessInfo.processInfo.environment
        if given["connect_timeout"] == nil, environment["PGCONNECT_TIMEOUT"] == nil {
            parameters.append(("connect_timeout", "\(Self.connectSeconds)"))
        }
        // A lost machine is noticed after this time; the default of the operating system is hours.
        if given["tcp_user_timeout"] == nil { parameters.append(("tcp_user_timeout", "30000")) }
        if given["keepalives_idle"] == nil { parameters.append(("keepalives_idle", "30")) }
        if preparesStatements {
            // Later options take precedence, so the operator's come last.
            var own = Self.limits.map { "-c \($0.0)=\($0.1)" } + ["-c client_min_messages=warning"]
            if isWriter {
                // A plan made while a table was small would scan it for ever; the cost that forbids it is no reason to
                // compile a statement.
                own.append("-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off")
            }
            let theirs = given["options"] ?? environment["PGOPTIONS"] ?? ""
            parameters.append(("options", (own + [theirs]).joined(separator: " ")))
        }
        return parameters
    }

    /// The parameters of the URL.
    private func given() throws(LedgerStorageError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            // libpq repeats the URL, which can hold a password.
            let reason = (message.map { String(cString: $0) } ?? "it cannot be read").replacing(url, with: "…")
            PQfreemem(message)
            throw LedgerStorageError(.unavailable, "the database's URL: \(reason)")
        }
        defer { PQconninfoFree(options) }
        var given: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { given[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return given
    }
}
