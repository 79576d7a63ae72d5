import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("32 Counts by hour", .tags(.everyEngine))
struct HourlyCountTests {
    /// The counts as lines, of the whole time.
    private func counts(_ ordered: OrderedWorld, app: String = "example") async throws -> [String] {
        let now = ordered.world.clock.now.millisecondsSince1970
        let query = HourlyCounts(
            app: app, from: Timestamp(millisecondsSince1970: 0), to: Timestamp(millisecondsSince1970: now + 3_600_000))
        return try await ordered.world.ledger.answer(query).map { "\($0.hour) \($0.kind) \($0.code) \($0.count)" }
            .sorted()
    }

    /// The same, from every leaf of the journal.
    private func expected(_ ordered: OrderedWorld) async throws -> [String] {
        let leaves = try await ordered.database.read(.lists) { connection in
            try connection.rows("SELECT leaf FROM journal", []).compactMap { row -> JournalLeaf? in
                guard case .blob(let bytes) = row.values[0] else { return nil }
                return JournalLeaf(bytes: Array(bytes))
            }
        }
        let kinds = Dictionary(grouping: leaves.filter { $0.app == "example" }) { leaf in
            let hour = leaf.at.millisecondsSince1970 / 3_600_000 * 3_600_000
            return "\(Timestamp(millisecondsSince1970: hour)) \(leaf.kind.name) \(leaf.code)"
        }
        return kinds.map { "\($0.key) \($0.value.count)" }.sorted()
    }

    @Test("32 Each entry counts once, in its hour and with its code, however many servers seal, and nothing twice")
    func everyEntry() async throws {
        try await OrderedWorld.with { ordered in
            let world = ordered.world
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
            _ = try await world.claim("1", customer: "mallory", try LedgerWorld.signed("1"))
            try await ordered.sealing.round()
            _ = try await world.claim("2", try LedgerWorld.signed("2"))
            world.clock.advance(seconds: 3600)
            _ = try await world.claim("3", try LedgerWorld.signed("3"))
            _ = try await world.order("bob")
            async let one = ordered.sealing.round()
            async let other = ordered.sealing.round()
            _ = try await (one, other)
            try await ordered.sealing.round()
            let counts = try await counts(ordered)
            #expect(counts == (try await expected(ordered)))
            #expect(counts.contains { $0.contains("claim accepted 2") } && counts.contains { $0.contains(" 1") })
            #expect(try await self.counts(ordered, app: "other") == [])
            #expect(try await ordered.findings() == [])
        }
    }

    @Test("32 Refusals that share an entry count with their number and codes")
    func refusals() async throws {
        try await OrderedWorld.with { ordered in
            let junk: [[UInt8]] = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
            _ = try await ordered.world.ledger.restore(
                RestoreSubmission(
                    app: "example", customerID: "alice", evidence: [try LedgerWorld.signed("1")] + junk))
            try await ordered.sealing.round()
            let refused = try await counts(ordered).filter { $0.contains(" refusals ") }
            #expect(refused.count == 1 && refused[0].hasSuffix(" 3"), "\(refused)")
        }
    }

    @Test("32 Hours that are older than 400 days are deleted, others are kept")
    func lifetime() async throws {
        try await OrderedWorld.with { ordered in
            _ = try await ordered.world.claim("1", try LedgerWorld.signed("1"))
            try await ordered.sealing.round()
            let first = try await counts(ordered)
            ordered.world.clock.advance(days: 400)
            _ = try await ordered.world.order("bob")
            try await ordered.sealing.round()
            let rows = try await number(ordered)
            #expect(rows == first.count + 1)
            ordered.world.clock.advance(seconds: 7200)
            _ = try await ordered.world.order("carol")
            try await ordered.sealing.round()
            #expect(try await number(ordered) == 2)
        }
    }

    private func number(_ ordered: OrderedWorld) async throws -> Int {
        try await ordered.database.read(.lists) { connection in
            try connection.rows("SELECT hour FROM hourly_counts WHERE app = 'example'", []).count
        }
    }
}
