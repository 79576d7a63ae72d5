import PurchaseLedger
import TestSupport

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
