import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

/// The stored state of deliveries, on each engine.
@Suite("Webhooks in the ledger", .tags(.everyEngine), .ledger)
struct WebhookLedgerTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static let url = "https://example.com/hook"
    private static let first = [UInt8](repeating: 1, count: 16)
    private static let second = [UInt8](repeating: 2, count: 16)

    private func take(_ owner: [UInt8], _ world: LedgerWorld) async throws -> WebhookLease? {
        guard
            let newest = try await world.ledger.answer(WebhookVacancy(app: "example", url: Self.url, owner: owner))
        else { return nil }
        return try await world.ledger.perform(
            LeaseWebhook(app: "example", url: Self.url, owner: owner, beginning: newest))
    }

    private func change(_ change: ChangeWebhook.Change, _ world: LedgerWorld) async throws -> Int? {
        try await world.ledger.perform(ChangeWebhook(app: "example", url: Self.url, change))
    }

    private func status(_ world: LedgerWorld) async throws -> WebhookStatus {
        try #require(try await world.ledger.answer(WebhookList(app: "example")).first)
    }

    private func events(_ world: LedgerWorld) async throws -> [OutgoingEvent] {
        try await world.ledger.answer(OutgoingEvents(app: "example", after: 0, limit: 100))
    }

    private func failed(_ event: OutgoingEvent, _ world: LedgerWorld) -> UndeliveredEvent {
        UndeliveredEvent(
            event, .retry, attempts: 1, firstAt: world.clock.now, nextAt: world.clock.now, lastError: "timed_out")
    }

    @Test("A webhook begins after the newest event, and one server has it until it gives it back or its lease ends")
    func lease() async throws {
        _ = try await world.order()
        let lease = try #require(try await take(Self.first, world))
        #expect(lease.cursor == (try await events(world)).last?.key)
        #expect(try await take(Self.second, world) == nil)
        #expect(try await take(Self.first, world) == lease)
        try await world.ledger.perform(ReleaseWebhook(lease))
        #expect(try await take(Self.second, world) != nil)
        world.clock.advance(seconds: 61)
        #expect(try await take(Self.first, world) != nil)
        // A server that saw it free a moment before is too late.
        let late = LeaseWebhook(app: "example", url: Self.url, owner: Self.second, beginning: 0)
        #expect(try await world.ledger.perform(late) == nil)
        #expect(try await change(.disable(reason: "moves"), world) == 1)
        #expect(try await take(Self.first, world) == nil)
        let status = try await status(world)
        #expect(status.disabledReason == "moves" && status.disabledAt != nil && status.behind == 0)
    }

    @Test("D.2 A process takes the lease of its holder's former process once, and a copy of its key gives no more")
    func predecessor() async throws {
        let key = try LogSigningKey(newFor: "example.com/assay").verifier
        let (old, new) = (WebhookOwner(holderOf: key), WebhookOwner(holderOf: key))
        let stranger = WebhookOwner(holderOf: try LogSigningKey(newFor: "example.com/assay").verifier)
        let locked = WebhookOwner(holderOf: nil)
        #expect(old.bytes != new.bytes && !locked.replacesPredecessor)
        func take(_ owner: WebhookOwner, _ replaces: Bool? = nil) async throws -> WebhookLease? {
            let replaces = replaces ?? owner.replacesPredecessor
            let vacancy = WebhookVacancy(
                app: "example", url: Self.url, owner: owner.bytes, replacesPredecessor: replaces)
            guard let newest = try await world.ledger.answer(vacancy) else { return nil }
            return try await world.ledger.perform(
                LeaseWebhook(
                    app: "example", url: Self.url, owner: owner.bytes, beginning: newest,
                    replacesPredecessor: replaces))
        }
        let lost = try #require(try await take(old))
        for other in [stranger, locked] { #expect(try await take(other) == nil) }
        #expect(try await take(new, false) == nil)
        let lease = try #require(try await take(new))
        // What the former process still sends is not recorded.
        #expect(try await world.ledger.perform(RecordDeliveries(lost)) == nil)
        try await world.ledger.perform(ReleaseWebhook(lost))
        #expect(try await world.ledger.perform(RecordDeliveries(lease)) != nil)
        #expect(try await take(old, false) == nil)
        world.clock.advance(seconds: 61)
        #expect(try await take(stranger) != nil)
    }

    @Test("A server that lost its lease records nothing, nor does one that does not know of an operator's change")
    func lostLease() async throws {
        var lease = try #require(try await take(Self.first, world))
        _ = try await world.order()
        let event = try #require(try await events(world).first)
        lease.cursor = event.key
        world.clock.advance(seconds: 61)
        let newer = try #require(try await take(Self.second, world))
        #expect(try await world.ledger.perform(RecordDeliveries(lease, undelivered: [failed(event, world)])) == nil)
        #expect(try await status(world).behind == 1)
        #expect(try await status(world).pending == 0)
        _ = try await change(.enable, world)
        #expect(try await world.ledger.perform(RecordDeliveries(newer)) == nil)
        // The server that lost the lease cannot return it on behalf of the other.
        try await world.ledger.perform(ReleaseWebhook(lease))
        #expect(try await take(Self.first, world) == nil)
    }

    @Test("A result that is recorded again after a commit with an unknown outcome is stored once")
    func repeatedRecord() async throws {
        var lease = try #require(try await take(Self.first, world))
        for _ in 0..<3 { _ = try await world.order() }
        let events = try await events(world)
        let head = try #require(events.first)
        lease.cursor = try #require(events.last).key
        let undelivered = [failed(head, world)] + events.dropFirst().map { UndeliveredEvent(waiting: $0) }
        for _ in 0..<2 {
            #expect(try await world.ledger.perform(RecordDeliveries(lease, undelivered: undelivered)) == [])
        }
        #expect(try await status(world).pending == 3)
        let lane = WebhookLane.customer(head.customer)
        let due = try await world.ledger.answer(DueDeliveries(app: "example", lease, limit: 10))
        #expect(due.map(\.lane) == [lane] && due.first?.deliveries.map(\.event) == events)
        let outcome = RecordDeliveries(lease, lanes: [LaneOutcome(lane: lane, delivered: [head.key])])
        for _ in 0..<2 {
            #expect(try await world.ledger.perform(outcome) == [])
            let due = try await world.ledger.answer(DueDeliveries(app: "example", lease, limit: 10))
            #expect(due.map { $0.deliveries.map(\.event) } == [Array(events.dropFirst())], "the order is lost")
        }
        let rest = RecordDeliveries(lease, lanes: [LaneOutcome(lane: lane, delivered: events.dropFirst().map(\.key))])
        for _ in 0..<2 { #expect(try await world.ledger.perform(rest) == [head.customer]) }
        #expect(try await status(world).pending == 0)
    }

    @Test("An event that was given up is listed with its reason, and sent again by its number")
    func resend() async throws {
        var lease = try #require(try await take(Self.first, world))
        _ = try await world.order()
        let event = try #require(try await events(world).first)
        lease.cursor = event.key
        var row = failed(event, world)
        _ = try await world.ledger.perform(RecordDeliveries(lease, undelivered: [row]))
        (row.state, row.attempts, row.nextAt, row.lastError) = (.dead, 14, nil, nil)
        let lane = WebhookLane.customer(event.customer)
        let outcome = LaneOutcome(lane: lane, undelivered: [row])
        #expect(try await world.ledger.perform(RecordDeliveries(lease, lanes: [outcome])) == [event.customer])
        let dead = try #require(try await status(world).dead.first)
        #expect(dead.event == event.key && dead.lastError == "timed_out" && dead.attempts == 14)
        #expect(try await change(.resend(event: event.key + 1), world) == 0)
        for _ in 0..<2 { #expect(try await change(.resend(event: event.key), world) == 1) }
        #expect(try await change(.resend(event: nil), world) == 1)
        let due = try await world.ledger.answer(DueDeliveries(app: "example", lease, limit: 10))
        #expect(due.map(\.lane) == [.resend(event: event.key)])
        let sent = LaneOutcome(lane: .resend(event: event.key), delivered: [event.key])
        _ = try await world.ledger.perform(RecordDeliveries(lease, lanes: [sent]))
        #expect(try await status(world).pending == 0)
        #expect(try await status(world).dead == [])
    }

    @Test("32.1 Events since a time are delivered again in order, and what waits from before stays")
    func resendSince() async throws {
        var lease = try #require(try await take(Self.first, world))
        var moments: [Timestamp] = []
        for _ in 0..<5 {
            moments.append(world.clock.now)
            _ = try await world.order()
            world.clock.advance(seconds: 600)
        }
        let all = try await events(world)
        lease.cursor = try #require(all.last).key
        let waiting = [failed(all[0], world), failed(all[3], world)]
        _ = try await world.ledger.perform(RecordDeliveries(lease, undelivered: waiting))
        let before = try await world.ledger.answer(EventDeliveries(app: "example", events: all.map(\.key)))
        #expect(before.map(\.state) == [.waiting, .delivered, .delivered, .waiting, .delivered])
        #expect(before.map(\.attempts) == [1, 0, 0, 1, 0] && before[0].lastError == "timed_out")
        #expect(try await change(.resendSince(moments[2]), world) == 3)
        // The server that delivered before records nothing, and reads the webhook again.
        #expect(try await world.ledger.perform(RecordDeliveries(lease)) == nil)
        let status = try await status(world)
        #expect(status.cursor == all[1].key && status.behind == 3 && status.pending == 1)
        let again = try await world.ledger.answer(OutgoingEvents(app: "example", after: status.cursor, limit: 100))
        #expect(again.map(\.key) == all[2...].map(\.key))
        #expect(try await change(.resendSince(moments[4].adding(milliseconds: 86_400_000, times: 1)), world) == 3)
        #expect(try await self.status(world).cursor == all[1].key, "a later time does not skip events")
        #expect(try await change(.resendSince(Timestamp(millisecondsSince1970: 0)), world) == 5)
        #expect(try await self.status(world).pending == 0)
    }

    @Test("32.1 A time that is older than those before it, as of a merge, makes no event be left out")
    func resendPastOlderTimes() async throws {
        var lease = try #require(try await take(Self.first, world))
        let start = world.clock.now
        for place in 0..<64 {
            // The event at which the range is halved first has an old time.
            if place == 31 { world.clock.advance(seconds: -40_000) }
            _ = try await world.order()
            if place == 31 { world.clock.advance(seconds: 40_000) }
            world.clock.advance(seconds: 600)
        }
        let all = try await events(world)
        lease.cursor = try #require(all.last).key
        _ = try await world.ledger.perform(RecordDeliveries(lease))
        let time = start.adding(milliseconds: 600_000, times: 10)
        _ = try await change(.resendSince(time), world)
        #expect(try await status(world).cursor <= all[9].key)
    }
}
