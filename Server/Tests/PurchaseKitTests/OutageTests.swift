import Crypto
import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import PurchaseServer
import Synchronization
import Testing

/// A subscription renews while the server does not answer.
@Suite("A renewal while the server does not answer")
struct OutageTests {
    @Test("A renewal that the device verified keeps a subscription until the server answers, also after a restart")
    func outage() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            var engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            let first = try #require(try await engine.weekly()?.until)
            try await world.pass(days: 0.1, device)
            await engine.refreshEntitlements(evenIfKnown: true)
            #expect(try await engine.weekly()?.renewal != nil)
            let finished = device.queue.finished.withLock { $0.count }
            let events = await KitEvents(engine)
            try await device.renewInOutage(engine)
            for run in ["the same run", "a restart"] {
                let shown = try #require(try await engine.weekly(), "\(run)")
                #expect(shown.isActive && shown.source == .device && shown.renewal == nil, "\(run)")
                #expect(shown.until == first.addingTimeInterval(7 * 86_400), "\(run)")
                // It is neither granted nor finished.
                #expect(try await engine.purchases().count == 1, "\(run)")
                #expect(try await device.unfinished() == 1, "\(run)")
                engine = try await device.engine()
            }
            #expect(device.queue.finished.withLock { $0.count } == finished)
            let names = try await events.names()
            #expect(names.contains("entitlements_changed") && !names.contains("granted"))
            device.link.isCut(false)
            await engine.retryNow()
            #expect(try await device.unfinished() == 0)
            #expect(try await engine.weekly()?.source == .server)
            #expect(try await engine.weekly()?.until == first.addingTimeInterval(7 * 86_400))
            // Without a renewal, the answer ends.
            device.link.isCut(true)
            device.time.pass(7 * 86_400)
            #expect(try await engine.active().isEmpty)
        }
    }

    @Test("Receipts prove renewals, too")
    func receipts() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device(isSigned: false)
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            try await device.renewInOutage(engine)
            // StoreKit has not written the new receipt yet.
            #expect(try await engine.active().isEmpty)
            try await device.simulated.refresh()
            try await device.renewInOutage(engine, days: 0.01)
            #expect(try await device.engine().active() == ["weekly"])
        }
    }

    @Test("The look finds a renewal that another device finished", arguments: [true, false])
    func finishedElsewhere(isSigned: Bool) async throws {
        try await OutageWorld.run { world in
            let device = try await world.device(isSigned: isSigned)
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            device.link.isCut(true)
            try await world.pass(days: 7.04, device)
            for transaction in try await device.simulated.unfinished() {
                try await device.simulated.finish(transaction)
            }
            if !isSigned { try await device.simulated.refresh() }
            #expect(try await engine.active().isEmpty)
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["weekly"])
            #expect(try await device.engine().active() == ["weekly"])
        }
    }

    @Test("A purchase that the look brought is prolonged like one that was bought here")
    func installedAgain() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let order = try await world.order("weekly", for: device.customer)
            let paid = PurchaseOrder(
                orderID: order.orderID, appAccountToken: UUID(uuidString: order.appAccountToken))
            #expect(await (try device.engine()).buy("weekly", order: paid).code == "granted")
            // This installation does not know the token by itself.
            let engine = try await device.engine(store: device.otherStore)
            await engine.start()
            #expect(try await engine.active() == ["weekly"])
            try await device.renewInOutage(engine)
            #expect(try await engine.active() == ["weekly"])
        }
    }

    @Test("Several renewals form a chain, for at most 30 days after the last answer")
    func chain() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            for week in 1...4 {
                try await device.renewInOutage(engine, days: 7.01)
                #expect(try await engine.active() == ["weekly"], "week \(week)")
            }
            let until = try #require(try await engine.weekly()?.until)
            #expect(until.timeIntervalSince(device.time.now) < 2 * 86_400)
            try await world.pass(days: 1.9, device)
            #expect(try await engine.active() == ["weekly"])
            try await world.pass(days: 0.1, device)
            #expect(try await engine.active().isEmpty)
            #expect(try await device.engine().active().isEmpty)
        }
    }

    @Test("A missing renewal is a gap")
    func gap() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            device.link.isCut(true)
            try await world.pass(days: 14.04, device)
            let renewals = try await device.simulated.unfinished()
            #expect(renewals.count == 2)
            _ = await engine.handle(try #require(renewals.last))
            #expect(try await engine.active().isEmpty)
            _ = await engine.handle(try #require(renewals.first))
            #expect(try await engine.active() == ["weekly"])
        }
    }

    @Test("The server's refusal ends it at once, also if the App Store signs the renewal again")
    func refusal() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            let first = try #require(try await device.lastTransaction())
            let renewal = try await device.renewInOutage(engine)
            #expect(try await engine.active() == ["weekly"])
            try await world.move(first, to: "somebody")
            device.link.isCut(false)
            #expect(try await device.retry(engine) == "already_claimed")
            #expect(try await device.unfinished() == 0)
            #expect(try await engine.active().isEmpty)
            device.link.isCut(true)
            try await world.pass(days: 0.1, device)
            let id = try #require(renewal.transactionID)
            for engine in [engine, try await device.engine()] {
                _ = await engine.handle(try await device.simulated.stored(id))
                await engine.refreshEntitlements()
                #expect(try await engine.active().isEmpty)
            }
        }
    }

    @Test("A renewal that the server refused before the granted period ended prolongs nothing when it is signed again")
    func refusedAlone() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let key = Curve25519.Signing.PrivateKey()
            let keys = try AnswerKeys(
                current: key.publicKey.rawRepresentation.base64EncodedString(), next: world.signer.publicKey)
            let engine = try await device.engine(keys: keys, device: LockedDevice())
            #expect(await engine.buy("weekly").code == "granted")
            let paid = try #require(try await engine.purchases().last).key.transactionID
            let until = try #require(try await engine.weekly()?.until)
            try await world.pass(days: 1, device)
            let now = Int64(device.time.now.timeIntervalSince1970)
            device.link.intercept { request, forward in
                // A server that knows why: it refuses the renewal, and grants the period before it.
                var answer = try await forward(request)
                var body = try JSONDecoder().decode(RestoreAnswer.self, from: Data(answer.body))
                for index in body.purchases.indices {
                    (body.purchases[index].code, body.purchases[index].disposition) = ("already_claimed", .refused)
                }
                for index in body.entitlements.indices {
                    body.entitlements[index].transactionID = paid
                    body.entitlements[index].until = until.ISO8601Format()
                }
                // The account would say the same.
                body.account = nil
                answer.body = [UInt8](try JSONEncoder().encode(body))
                return try NetworkTests.resigned(
                    answer, request, by: key, keyID: NetworkTests.id(of: key), created: now)
            }
            #expect(await engine.handle(try await device.renewal(of: engine)).code == "already_claimed")
            #expect(try await engine.active() == ["weekly"])
            device.link.isCut(true)
            device.time.pass(6.01 * 86_400)
            for engine in [engine, try await device.engine(keys: keys, device: LockedDevice())] {
                _ = await engine.handle(try await device.renewal(of: engine))
                #expect(try await engine.active().isEmpty)
            }
        }
    }

    @Test("An answer that is newer than the renewal and does not know it counts")
    func newerAnswer() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(device: LockedDevice())
            #expect(await engine.buy("weekly").code == "granted")
            let first = try #require(try await engine.weekly()?.until)
            try await world.pass(days: 1, device)
            device.link.isCut(true)
            #expect(await engine.handle(try await device.renewal(of: engine)).code == "connection_failed")
            #expect(try await engine.weekly()?.until == first.addingTimeInterval(7 * 86_400))
            try await world.pass(days: 1, device)
            device.link.isCut(false)
            await engine.refreshEntitlements(evenIfKnown: true)
            #expect(try await engine.weekly()?.until == first)
            device.link.isCut(true)
            device.time.pass(6 * 86_400)
            #expect(try await engine.active().isEmpty)
        }
    }

    @Test("An answer about another product of the same original is an answer about the original")
    func upgrade() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(device: LockedDevice())
            #expect(await engine.buy("monthly").code == "granted")
            let first = try #require(try await engine.entitlements().first?.until)
            try await world.pass(days: 20, device)
            await engine.refreshEntitlements()
            try await world.pass(days: 1, device)
            device.link.isCut(true)
            _ = await engine.handle(try await device.renewal(of: engine))
            func until() async throws -> Date? {
                try await engine.entitlements().first { $0.productID == "monthly" }?.until
            }
            #expect(try #require(await until()) > first)
            try await world.pass(days: 1, device)
            device.link.isCut(false)
            #expect(await engine.buy("yearly").code == "granted")
            // The answer has the whole account: monthly ended with the upgrade, or with the period that the server
            // knows.
            let known = try #require(await until())
            #expect(known <= first, "\(known), \(first)")
        }
    }

    @Test("Turning the clock back after the renewal's end gains nothing")
    func clock() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            try await device.renewInOutage(engine)
            device.time.pass(7 * 86_400)
            #expect(try await engine.active().isEmpty)
            device.time.set(-10 * 86_400)
            #expect(try await engine.active().isEmpty)
            #expect(try await device.engine().active().isEmpty)
        }
    }
}
