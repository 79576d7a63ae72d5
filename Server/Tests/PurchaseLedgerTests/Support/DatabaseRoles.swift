import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// The roles of docs/postgresql.md in an empty database: an owner who is no superuser, a server, and another superuser.
struct DatabaseRoles {
    let place: ThrowawayPostgreSQL.Database

    var ownerName: String { "owner_\(place.name)" }
    var serverName: String { "server_\(place.name)" }
    var superuserName: String { "super_\(place.name)" }

    var owner: String { url(ownerName) }
    var server: String { url(serverName) }
    var superuser: String { url(superuserName) }

    /// Creates the roles. The server has no rights yet.
    static func make(in place: ThrowawayPostgreSQL.Database) async throws -> DatabaseRoles {
        let roles = DatabaseRoles(place: place)
        let admin = try PostgreSQLDatabase(url: place.url())
        try await admin.write { connection in
            for sql in [
                "CREATE ROLE \(roles.ownerName) LOGIN", "CREATE ROLE \(roles.serverName) LOGIN",
                "CREATE ROLE \(roles.superuserName) LOGIN SUPERUSER",
                "ALTER DATABASE \(place.name) OWNER TO \(roles.ownerName)",
            ] {
                try connection.execute(sql, [])
            }
        }
        try await admin.close()
        return roles
    }

    private func url(_ role: String) -> String { place.url().replacing("user=assay", with: "user=\(role)") }
}

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
        let text = try String(contentsOf: Corpus.projectFolder.appending(path: "docs/postgresql.md"), encoding: .utf8)
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
