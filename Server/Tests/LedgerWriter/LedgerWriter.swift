import Foundation
import PurchaseLedger
import PurchaseVerification

/// Submits the claims of a folder to a ledger, and prints a line for each that was acknowledged: id, code, and whether
/// it was a repetition. `anchor…` in the folder are the trust anchors; the other files are signed transactions, named
/// by their ids.
///
/// DATABASE is the path of a SQLite file, or the URL of a PostgreSQL database. With a number of clients, each submits
/// every claim for one of a hundred customers, and one line says how many of the answers were new.
///
///     ledger-writer DATABASE FOLDER OFFSET [forever|CLIENTS]
@main
struct LedgerWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard [4, 5].contains(arguments.count), let offset = Int(arguments[3]) else {
            throw WriterError(description: "usage: ledger-writer DATABASE FOLDER OFFSET [forever|CLIENTS]")
        }
        let folder = URL(fileURLWithPath: arguments[2])
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products["com.example.app.coins"] = RegisteredProduct(kind: .consumable)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        var anchors: [TrustAnchor] = []
        for name in names where name.hasPrefix("anchor") {
            anchors.append(try TrustAnchor(certificate: Array(try Data(contentsOf: folder.appending(path: name)))))
        }
        let database: any LedgerDatabase =
            LedgerDatabases.isPostgreSQL(arguments[1])
            ? try PostgreSQLDatabase(url: arguments[1]) : try SQLiteDatabase(path: arguments[1])
        let time = Timestamp(millisecondsSince1970: 1_700_010_000_000)
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: anchors), apps: [app], clock: { time })
        let ids = names.filter { !$0.hasPrefix("anchor") }
        if let clients = arguments.last.flatMap({ Int($0) }), arguments.count == 5 {
            let counts = try await submit(ids, of: folder, clients: clients, offset: offset, ledger)
            print("new \(counts.new) repeated \(counts.repeated) other \(counts.other)")
            return try await database.close()
        }
        var place = 0
        while place < ids.count || arguments.count == 5 {
            let id = ids[(place + offset) % ids.count]
            place += 1
            let outcome = try await ledger.submit(try submission(id, folder, customer: "alice"))
            let line = "\(id) \(outcome.code) \(outcome.isReplayed ? "repeated" : "new")\n"
            try FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
        }
        try await database.close()
    }

    private static func submission(_ id: String, _ folder: URL, customer: String) throws -> PurchaseSubmission {
        var submission = PurchaseSubmission(app: "example")
        (submission.claim.transactionID, submission.claim.customerID) = (id, customer)
        submission.claim.productID = "com.example.app.coins"
        submission.evidence = Array(try Data(contentsOf: folder.appending(path: id)))
        return submission
    }

    /// Submits every claim once per client, each client beginning with a different one.
    private static func submit(
        _ ids: [String], of folder: URL, clients: Int, offset: Int, _ ledger: PurchaseLedger
    ) async throws -> (new: Int, repeated: Int, other: Int) {
        var examined: [ExaminedSubmission] = []
        for id in ids {
            examined.append(ledger.examine(try submission(id, folder, customer: "customer \(id.suffix(2))")))
        }
        let claims = examined
        return try await withThrowingTaskGroup(of: (new: Int, repeated: Int, other: Int).self) { group in
            for client in 0..<clients {
                group.addTask {
                    var counts = (new: 0, repeated: 0, other: 0)
                    for place in claims.indices {
                        let claim = claims[(place + offset + client * 31) % claims.count]
                        let outcome = try await ledger.perform(ClaimPurchase(claim))
                        if outcome.verdict != .accepted {
                            counts.other += 1
                        } else if outcome.isReplayed {
                            counts.repeated += 1
                        } else {
                            counts.new += 1
                        }
                    }
                    return counts
                }
            }
            return try await group.reduce(into: (new: 0, repeated: 0, other: 0)) { sum, counts in
                sum = (sum.new + counts.new, sum.repeated + counts.repeated, sum.other + counts.other)
            }
        }
    }
}

/// Invalid arguments.
struct WriterError: Error, CustomStringConvertible {
    let description: String
}
