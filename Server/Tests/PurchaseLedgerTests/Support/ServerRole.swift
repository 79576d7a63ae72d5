import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// A role of PostgreSQL that uses the tables and does not own them, with the rights that docs/postgresql.md gives it.
enum ServerRole {
    /// Migrates an empty database as its owner, and creates the role.
    ///
    /// - Returns: the URL with which a server connects under the role.
    static func make(in place: ThrowawayPostgreSQL.Database) async throws -> String {
        let owner = try PostgreSQLDatabase(url: place.url())
        try await LedgerMigrations.migrate(owner, now: 0)
        let role = "server_\(place.name)"
        // The audits of the tests compare the schema, for which a role creates another one.
        let statements = ["CREATE ROLE \(role) LOGIN", "GRANT CREATE ON DATABASE \(place.name) TO \(role)"]
        let rights = try documented(role)
        try await owner.write { connection in
            for sql in statements + rights { try connection.execute(sql, []) }
        }
        try await owner.close()
        return place.url().replacing("user=assay", with: "user=\(role)")
    }

    /// The statements of docs/postgresql.md that give a role the rights of a server.
    static func documented(_ role: String) throws -> [String] {
        let text = try String(
            contentsOf: Corpus.projectFolder.appending(path: "docs/postgresql.md"), encoding: .utf8)
        let section = text.components(separatedBy: "\n## ").first {
            $0.hasPrefix("A role that does not own the tables")
        }
        let block = section?.components(separatedBy: "```").dropFirst().first { $0.hasPrefix("sql\n") }
        let statements = try #require(block).dropFirst("sql\n".count).split(separator: ";")
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
        #expect(statements.count > 3)
        return statements.map { $0.replacing("assay_server", with: role) }
    }
}
