import EvidenceMint
import Foundation
import HTTPTypes
import Logging
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// The drop-in's answers to several holders of one subscription: none of them has anything of another one's.
@Suite("verifyReceipt of shared subscriptions", .server)
struct SharedAnswerTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    /// Expects that the answer to a holder has nothing of the others, and returns it.
    @discardableResult
    private static func ask(
        _ world: PurchaseServerWorld, _ holder: DropInHolder, among holders: [DropInHolder]
    ) async throws -> DropInWorld.Reply {
        let receipt = try holder.receipt()
        let reply = try await DropInWorld.ask(world.client, receipt)
        #expect(reply.status == 0 && reply.info.map { $0["transaction_id"] as? String } == [holder.transaction])
        #expect(reply.json["latest_receipt"] as? String == Data(receipt).base64EncodedString())
        for other in holders where other.transaction != holder.transaction {
            for text in other.texts where !holder.texts.contains(text) && text != holder.original {
                #expect(!reply.text.contains(text), "\(text) in the answer to \(holder.transaction)")
            }
        }
        return reply
    }

    @Test("30.1 Members with an original of their own have nothing of the buyer's or of each other's")
    func ownOriginals() async throws {
        world.clock.advance(days: 12)
        let holders = DropInHolder.all
        for holder in holders { try await holder.tell(world.client, on: 5) }
        for holder in holders {
            let reply = try await Self.ask(world, holder, among: holders)
            #expect(reply.state == "live" && reply.renewals == [holder.renewal])
            #expect(reply.info.first?["cancellation_date"] == nil)
        }
        try await DropInHolder.buyer.tell(world.client, on: 10.5, status: 5) {
            ($0.revocationDate, $0.revocationReason) = (DropInWorld.date(10), 1)
        }
        for holder in holders {
            let info = try #require(try await Self.ask(world, holder, among: holders).info.first)
            let isBuyer = holder.transaction == DropInHolder.buyer.transaction
            #expect((info["cancellation_date"] != nil) == isBuyer && (info["cancellation_reason"] != nil) == isBuyer)
        }
    }

    @Test("30.1 Holders of one original have nothing of each other's: no transaction, renewal, refund or receipt")
    func oneOriginal() async throws {
        world.clock.advance(days: 12)
        let original = DropInHolder.buyer.original
        let holders = DropInHolder.all.map { $0.of(original) }
        // Signed at different times, so that the newest of all is nobody's but the last one's.
        for (place, holder) in holders.enumerated() {
            try await holder.tell(world.client, on: 5 + Double(place) / 10)
        }
        for holder in holders {
            let reply = try await Self.ask(world, holder, among: holders)
            #expect(reply.state == "live" && reply.renewals == [holder.renewal], "\(holder.transaction)")
            #expect(reply.info.first?["cancellation_date"] == nil)
        }
        // One member loses the share; the buyer is refunded later.
        for (revoked, day) in [(holders[1], 10.0), (holders[0], 11.0)] {
            try await revoked.tell(world.client, on: day + 0.5, status: 5) {
                ($0.revocationDate, $0.revocationReason) = (DropInWorld.date(day), 1)
            }
            for holder in holders {
                let info = try #require(try await Self.ask(world, holder, among: holders).info.first)
                let isRevoked =
                    holder.transaction == holders[1].transaction
                    || day > 10 && holder.transaction == holders[0].transaction
                #expect((info["cancellation_date"] != nil) == isRevoked, "\(holder.transaction) after \(day)")
            }
        }
        // The newer receipts of all of them name the same original.
        let newer = try holders.enumerated().map { try $1.receipt(on: 3 + Double($0)) }
        for receipt in newer {
            _ = try await world.ledger.observe(EvidenceSubmission(app: "example", source: "test", evidence: receipt))
        }
        for (holder, receipt) in zip(holders, newer) {
            let reply = try await DropInWorld.ask(world.client, try holder.receipt())
            #expect(reply.json["latest_receipt"] as? String == Data(receipt).base64EncodedString())
            #expect(reply.info.map { $0["transaction_id"] as? String } == [holder.transaction])
        }
    }

    @Test("30.1 A member whose download is not known has what was signed beside the own transaction, and nothing else")
    func unknownDownload() async throws {
        world.clock.advance(days: 12)
        let original = DropInHolder.buyer.original
        let members = ["550000000001", "560000000001"].map {
            DropInHolder($0, "FAMILY_SHARED", nil).of(original)
        }
        let holders = [DropInHolder.buyer] + members
        try await DropInHolder.buyer.tell(world.client, on: 5)
        try await members[0].tell(world.client, on: 5.1)
        // Of the second one, only the transaction is known.
        try await DropInWorld.observe(world.ledger, members[1].signed())
        let first = try await Self.ask(world, members[0], among: holders)
        #expect(first.state == "live" && first.renewals == [members[0].renewal])
        let second = try await Self.ask(world, members[1], among: holders)
        #expect(second.state == "as-of-signing" && second.renewals.isEmpty)
        let buyer = try await Self.ask(world, .buyer, among: holders)
        #expect(buyer.state == "live" && buyer.renewals == [DropInHolder.buyer.renewal])
    }

    @Test("30.1 Renewal info without a transaction is that of its download, or of the only known holder")
    func renewalAlone() async throws {
        world.clock.advance(days: 12)
        let (buyer, child) = (DropInHolder.buyer, DropInHolder.child.of(DropInHolder.buyer.original))
        func state(_ download: String?, on day: Double) async throws -> [[[String: String]]] {
            var template = RenewalInfoTemplate(transaction: buyer.signed())
            (template.signedDate, template.appTransactionID) = (DropInWorld.date(day), download)
            template.autoRenewProductID = buyer.nextProduct
            try await DropInWorld.observe(world.ledger, template)
            var renewals: [[[String: String]]] = []
            for holder in [buyer, child] {
                renewals.append(try await DropInWorld.ask(world.client, try holder.receipt()).renewals)
            }
            return renewals
        }
        try await DropInWorld.observe(world.ledger, buyer.signed())
        #expect(try await state(nil, on: 1) == [[buyer.renewal], []])
        #expect(try await state(buyer.download, on: 2) == [[buyer.renewal], []])
        #expect(try await state(child.download, on: 3) == [[], []])
        try await DropInWorld.observe(world.ledger, child.signed())
        #expect(try await state(nil, on: 4) == [[], []])
        #expect(try await state(buyer.download, on: 5) == [[buyer.renewal], []])
        #expect(try await state(child.download, on: 6) == [[], [buyer.renewal]])
    }

    @Test("30.1 A receipt with an ownership type without a known meaning leads to nothing of the buyer's")
    func unknownOwnership() async throws {
        world.clock.advance(days: 12)
        try await DropInHolder.buyer.tell(world.client, on: 5, status: 1)
        // Nothing is known of the member's own transaction.
        let seat = DropInHolder.seat.of(DropInHolder.buyer.original)
        let reply = try await Self.ask(world, seat, among: [.buyer])
        #expect(reply.state == "as-of-signing" && reply.renewals.isEmpty)
    }

    @Test("30.1 The erasure of the buyer is no reason for 21010 to a member, nor the other way round")
    func erased() async throws {
        for isBuyerErased in [true, false] {
            try await PurchaseServerWorld.run {
                var settings = DropInSettings(app: "example")
                settings.erased = .accountNotFound
                $0.dropIn = ["com.example.app": settings]
            } _: { world async throws in
                let holders = [DropInHolder.buyer, DropInHolder.child.of(DropInHolder.buyer.original)]
                let (erased, other) = isBuyerErased ? (holders[0], holders[1]) : (holders[1], holders[0])
                let claim = try PurchaseServerWorld.purchase(
                    erased.transaction, product: DropInWorld.monthly, receipt: try erased.receipt())
                #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
                _ = try await world.ledger.perform(EraseCustomer(app: "example", customerID: "alice", reason: "asked"))
                #expect(try await DropInWorld.ask(world.client, try erased.receipt()).status == 21010)
                #expect(try await DropInWorld.ask(world.client, try other.receipt()).status == 0)
                // With a transaction of the other one, it is still only the erased one's.
                try await DropInWorld.observe(world.ledger, other.signed())
                #expect(try await DropInWorld.ask(world.client, try erased.receipt()).status == 21010)
                #expect(try await DropInWorld.ask(world.client, try other.receipt()).status == 0)
            }
        }
    }

    @Test("30.1 One original has one expected renewal, also if a receipt has it twice")
    func oneRenewal() async throws {
        world.clock.advance(days: 31)
        let holder = DropInHolder.child
        var periods = [DropInWorld.period(1), DropInWorld.period(2)]
        for index in periods.indices { periods[index].originalTransactionID = holder.original }
        periods[0].ownershipType = .purchased
        periods[1].ownershipType = .familyShared
        periods[1].transactionID = holder.transaction
        try await DropInWorld.tell(
            world.client, DropInWorld.signed(1) { $0.originalTransactionID = holder.original }, on: 1)
        try await holder.tell(world.client, on: 30.5) {
            ($0.purchaseDate, $0.expiresDate) = (DropInWorld.date(30), DropInWorld.date(60))
        }
        let reply = try await DropInWorld.ask(world.client, try DropInWorld.receipt(periods))
        #expect(reply.info.count == 2 && reply.renewals == [holder.renewal])
    }
}

@Suite("30.3 Answers of verifyReceipt whose state was not read")
struct StateMissTests {
    @Test("The first is logged at once, the others together with their number, without the text of unknown errors")
    func misses() async throws {
        struct Failure: Error { let secret = "hunter2" }
        let recording = RecordingLog()
        let log = StateMissLog(period: .milliseconds(300), logger: recording.logger(.info))
        let deadlines = ShortDeadlines(uptime: TestUptime().read, missed: log.note)
        let missed: Int? = await deadlines.run(within: 0.05) {
            throw LedgerStorageError(.unavailable, "the server closed the connection")
        }
        #expect(missed == nil)
        let first = try #require(recording.lines.first)
        #expect(first.level == .warning)
        #expect(
            first.facts == [
                "answers": "1", "failed": "1", "code": "database_unavailable",
                "error": "the server closed the connection",
            ])
        for _ in 0..<1000 {
            let missed: Int? = await deadlines.run(within: 0.05) { throw Failure() }
            #expect(missed == nil)
        }
        log.note(.late)
        log.note(.notMade)
        func count() -> Int { recording.lines.compactMap { $0.facts["answers"].flatMap { Int($0) } }.reduce(0, +) }
        for _ in 0..<30_000 {
            guard count() < 1003 else { break }
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(count() == 1003)
        #expect(recording.lines.allSatisfy { !"\($0.facts)".contains("hunter2") })
        for kind in ["late", "not_made"] { #expect(recording.lines.contains { $0.facts[kind] == "1" }) }
        // An answer with state, or one of which the ledger knows nothing, is no miss.
        #expect(await deadlines.run(within: 0.05) { 1 } == 1)
        let nothing: Int? = await deadlines.run(within: 0.05) { nil }
        #expect(nothing == nil && count() == 1003)
    }
}
