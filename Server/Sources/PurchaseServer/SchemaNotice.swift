import Logging
import PurchaseLedger

/// A line of the server's log that says which schema and rules it writes, after its start has migrated the database.
enum SchemaNotice {
    static func log(_ database: any LedgerDatabase, _ logger: Logger) async throws {
        let state = try await SchemaState(of: database)
        var metadata: Logger.Metadata = [
            "writes_schema": .stringConvertible(Int(state.number)), "rules": .stringConvertible(Int(state.rules ?? 0)),
        ]
        guard let newest = state.expansions.last else {
            return logger.notice("the database is migrated", metadata: metadata)
        }
        metadata["has_additions_of"] = .stringConvertible(Int(newest))
        logger.notice(
            state.isExpandedByLater
                ? "a later release has begun to migrate the database, and this one goes on writing"
                : "the release before can still write; 'assay migrate --contract' ends that once no server of it runs",
            metadata: metadata)
    }
}
