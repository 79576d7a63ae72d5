import Foundation
import PurchaseLedger
import PurchaseVerification

/// Submits the claims of a folder to a ledger, and prints a line for each that was acknowledged: id, code, and whether it was a
/// repetition. `anchor…` in the folder are the trust anchors; the other files are signed transactions, named by their ids.
///
///     ledger-writer DATABASE FOLDER OFFSET [forever]
@main
struct LedgerWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard [4, 5].contains(arguments.count), let offset = Int(arguments[3]) else {
            throw WriterError(description: "usage: ledger-writer DATABASE FOLDER OFFSET [forever]")
        }
        let folder = URL(fileURLWithPath: arguments[2])
        var app = RegisteredApp(id: "example", bundleIDs: ["com.example.app"])
        app.products["com.example.app.coins"] = RegisteredProduct(kind: .consumable)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        var anchors: [TrustAnchor] = []
        for name in names where name.hasPrefix("anchor") {
            anchors.append(try TrustAnchor(certificate: Array(try Data(contentsOf: folder.appending(path: name)))))
        }
        let database = try SQLiteDatabase(path: arguments[1])
        let time = Timestamp(millisecondsSince1970: 1_700_010_000_000)
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: PurchaseVerifier(anchors: anchors), apps: [app], clock: { time })
        let ids = names.filter { !$0.hasPrefix("anchor") }
        var place = 0
        while place < ids.count || arguments.count == 5 {
            let id = ids[(place + offset) % ids.count]
            place += 1
            var submission = PurchaseSubmission(app: "example")
            (submission.claim.transactionID, submission.claim.customerID) = (id, "alice")
            submission.claim.productID = "com.example.app.coins"
            submission.evidence = Array(try Data(contentsOf: folder.appending(path: id)))
            let outcome = try await ledger.submit(submission)
            let line = "\(id) \(outcome.code) \(outcome.isReplayed ? "repeated" : "new")\n"
            try FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
        }
        try await database.close()
    }
}

/// Wrong arguments.
struct WriterError: Error, CustomStringConvertible {
    let description: String
}
