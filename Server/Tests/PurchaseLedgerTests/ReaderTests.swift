import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// Readers beside writers: no request waits for a list, and no reader makes the WAL grow.
@Suite("Readers", .tags(.everyEngine))
struct ReaderTests {
    @Test("While every connection for lists is busy and more lists wait, claims, entitlements and key lookups continue")
    func busyLists() async throws {
        try await LedgerWorld.with { world in
            let key = try await world.ledger.perform(CreateAPIKey(app: "example", name: "k", scopes: [.client]))
            let text = try #require(APIKeyText(key.text))
            let gate = DispatchSemaphore(value: 0)
            let started = TestCount()
            let count = 16
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await world.database.read(.lists) { connection in
                            started.add()
                            _ = try connection.rows("SELECT max(entry_key) FROM journal", [])
                            gate.wait()
                        }
                    }
                }
                do {
                    defer { for _ in 0..<count { gate.signal() } }
                    while started.value == 0 { await Task.yield() }
                    for number in 0..<50 {
                        let id = "\(1000 + number)"
                        #expect(try await world.claim(id, try LedgerWorld.signed(id)).rejection == nil)
                        #expect(try await world.entitlement()?.balance == Int64(number + 1))
                        #expect(try await world.ledger.answer(APIKeyLookup(text)) != nil)
                        let order = try await world.order("bob")
                        #expect(try await world.order(order.id).status == .created)
                    }
                    // Some lists are still waiting for a connection.
                    #expect(started.value < count)
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A reader of the whole journal in pages, however slow, does not let the WAL grow")
    func slowExport() async throws {
        try await Self.withSmallWAL { world, size in
            for number in 0..<300 { _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)")) }
            var (last, pages, number): (Int64, Int, Int) = (0, 0, 1000)
            while true {
                let page = try await world.ledger.answer(JournalExport(after: last, limit: 20))
                guard let end = page.last, end.key <= 300 else { break }
                last = end.key
                pages += 1
                // Between two pages, the reader sends data to a slow client.
                for _ in 0..<20 {
                    _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)"))
                    number += 1
                }
                #expect(try size() < 2 * Self.pages * 4120)
            }
            #expect(pages >= 14)
        }
    }

    @Test("Readers that overlap without an end do not let the WAL grow; a commit truncates it")
    func overlappingReaders() async throws {
        try await Self.withSmallWAL { world, size in
            let done = TestCount()
            var (last, isTruncated) = (0, false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    // Each reader ends after the next one began.
                    var former: (end: DispatchSemaphore, task: Task<Void, any Error>)?
                    while done.value == 0 {
                        let (end, begun) = (DispatchSemaphore(value: 0), TestCount())
                        let task = Task {
                            try await world.database.read(.lists) { connection in
                                _ = try connection.rows("SELECT max(entry_key) FROM journal", [])
                                begun.add()
                                end.wait()
                            }
                        }
                        while begun.value == 0 { await Task.yield() }
                        former?.end.signal()
                        try await former?.task.value
                        former = (end, task)
                    }
                    former?.end.signal()
                    try await former?.task.value
                }
                // SQLite itself never shortens the file.
                for number in 0..<20_000 where !isTruncated {
                    _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)"))
                    let present = try size()
                    isTruncated = present < last
                    last = present
                }
                done.add()
                try await group.waitForAll()
            }
            #expect(isTruncated)
        }
    }

    /// The number of pages at which the WAL of these tests is checkpointed.
    private static let pages = 100

    private static func withSmallWAL(
        _ body: (LedgerWorld, () throws -> Int) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let database = try SQLiteDatabase(path: path, checkpointPages: pages)
            let world = try await LedgerWorld(database)
            // Creating the schema wrote more than that.
            _ = try await world.claim("0", try LedgerWorld.signed("0"))
            try await body(world) {
                try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
            }
            try await database.close()
        }
    }
}

/// A number that several tasks increment.
final class TestCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}
