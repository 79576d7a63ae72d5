import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Processes", .tags(.everyEngine))
struct ProcessTests {
    private static let claims = 150

    @Test("Two processes submit the same claims to one file: each is granted once, and a rebuild is equal")
    func twoProcesses() async throws {
        try await withClaims { path, folder in
            let writers = try [0, Self.claims / 2].map { try WriterProcess(path, folder, offset: $0) }
            var lines: [String] = []
            for writer in writers {
                lines += try await writer.lines()
                #expect(writer.process.terminationStatus == 0)
            }
            #expect(lines.count == 2 * Self.claims)
            let new = lines.filter { $0.hasSuffix(" accepted new") }
            let repeated = lines.filter { $0.hasSuffix(" accepted repeated") }
            #expect(Set(new).count == Self.claims && new.count == Self.claims)
            #expect(repeated.count == Self.claims)
            try await check(path, balance: Self.claims)
        }
    }

    @Test(
        "A process that is stopped or killed loses no acknowledged write, and a rebuild is equal",
        arguments: [SIGTERM, SIGKILL])
    func killed(signal: Int32) async throws {
        try await withClaims { path, folder in
            // It sends its claims repeatedly, so that it is busy when the signal arrives, however fast the machine is.
            let writer = try WriterProcess(path, folder, offset: 0, mode: "forever")
            // At least one claim was acknowledged.
            let first = try await writer.firstLine()
            kill(writer.process.processIdentifier, signal)
            let acknowledged = try await [first] + writer.lines()
            #expect(writer.process.terminationStatus != 0)
            let granted = acknowledged.filter { $0.hasSuffix(" accepted new") }
            #expect(!granted.isEmpty)
            let database = try SQLiteDatabase(path: path)
            let world = try await LedgerWorld(database)
            let balance = Int(try await world.entitlement()?.balance ?? 0)
            // The last one may have been committed without an answer.
            #expect(balance == granted.count || balance == granted.count + 1)
            for line in granted {
                let id = String(line.prefix { $0 != " " })
                let found = try await world.submissions(SubmissionFilter(transactionID: id))
                #expect(!found.isEmpty && found.allSatisfy { $0.code == "accepted" })
            }
            try await world.requireConsistency()
            try await database.close()
            // Sending everything again grants the rest.
            #expect(try await WriterProcess(path, folder, offset: 0).lines().count == Self.claims)
            try await check(path, balance: Self.claims)
        }
    }

    private func check(_ path: String, balance: Int) async throws {
        let database = try SQLiteDatabase(path: path)
        let world = try await LedgerWorld(database)
        #expect(try await world.entitlement()?.balance == Int64(balance))
        #expect(try await world.events().count { $0 == "granted" } == balance)
        try await world.requireConsistency()
        try await database.close()
    }

    private func withClaims(_ body: (String, URL) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            let claims = folder.appending(path: "claims")
            try FileManager.default.createDirectory(at: claims, withIntermediateDirectories: true)
            try WriterProcess.prepare(claims, claims: Self.claims)
            let path = folder.appending(path: "assay.sqlite").path
            // The schema is created before any process writes.
            let database = try SQLiteDatabase(path: path)
            _ = try await LedgerWorld(database)
            try await database.close()
            try await body(path, claims)
        }
    }
}

extension SubmissionFilter {
    fileprivate init(transactionID: String) {
        self.init()
        self.transactionID = transactionID
    }
}
