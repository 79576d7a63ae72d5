import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// The rights that docs/postgresql.md gives to the role of a server, and the statements that a server sends.
@Suite("Rights of the server's role", .tags(.everyEngine))
struct ServerRoleRightsTests {
    /// Folders and files whose statements run as the owner of the tables: migrations, audits, copies and backups.
    private static let ofOwner = [
        "Schema/", "Audit/", "Copy/", "Store/CopyMark.swift",
    ]

    /// The tables that the ledger's statements name after a verb, except those of the owner.
    private static func tables(after verb: String) throws -> Set<String> {
        let sources = Corpus.projectFolder.appending(path: "Server/Sources/PurchaseLedger")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { path in
            path.hasSuffix(".swift") && !ofOwner.contains { path.hasPrefix($0) }
        }
        #expect(files.count > 100)
        let pattern = try Regex("\\b\(verb) ([a-z_]+)\\b", as: (Substring, Substring).self)
        var tables: Set<String> = []
        for file in files {
            let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
            tables.formUnion(text.matches(of: pattern).map { String($0.output.1) })
        }
        return tables
    }

    @Test(
        "28.2 Every table in which a server changes rows is granted to its role in docs/postgresql.md, and DELETE on no other"
    )
    func rights() throws {
        let stored = Set(try StoredTable.all().map(\.name))
        let statements = try ServerRole.documented("assay_server").map {
            $0.replacing(/\s+/, with: " ")
        }
        #expect(statements.contains("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO assay_server"))
        #expect(statements.contains("REVOKE INSERT, UPDATE ON schema_migrations FROM assay_server"))
        let deletion = try #require(statements.first { $0.hasPrefix("GRANT DELETE ON ") })
        let granted = deletion.dropFirst("GRANT DELETE ON ".count).split(separator: " TO ")[0].split(separator: ", ")
            .map(String.init)
        #expect(granted == granted.sorted() && Set(granted).isSubset(of: stored))
        let deleted = try Self.tables(after: "DELETE FROM")
        #expect(deleted.count > 15)
        #expect(deleted == Set(granted))
        // The other two are granted on all tables but this one.
        for verb in ["UPDATE", "INSERT INTO"] {
            #expect(try !Self.tables(after: verb).contains("schema_migrations"), "\(verb)")
        }
        #expect(try Self.tables(after: "UPDATE").intersection(stored).count > 10)
    }
}
