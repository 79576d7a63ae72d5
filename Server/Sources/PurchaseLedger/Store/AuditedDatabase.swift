/// A database whose transactions begin with the engine's settings for an audit.
struct AuditedDatabase: LedgerDatabase {
    let database: any LedgerDatabase

    var dialect: any LedgerDialect { database.dialect }
    var load: DatabaseLoad { database.load }

    func read<Value: Sendable>(
        _ access: LedgerReadAccess, _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        let settings = dialect.auditSettings
        return try await database.read(access) { connection in
            for sql in settings { try connection.execute(sql, []) }
            return try body(connection)
        }
    }

    func write<Value: Sendable>(
        plan: @escaping @Sendable () -> LedgerWritePlan,
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await database.write(plan: plan, body)
    }

    func requireSchema(_ number: Int64) { database.requireSchema(number) }

    func close() async throws { try await database.close() }
}
