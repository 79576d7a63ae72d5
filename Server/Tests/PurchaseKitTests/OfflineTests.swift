import Crypto
import Foundation
import KitTestSupport
import PurchaseKit
import Synchronization
import Testing

/// What counts without the server, and when the clock jumps.
@Suite("Offline, and with wrong clocks")
struct OfflineTests {
    @Test(
        "A signed answer counts offline until its period ends, and never longer by setting the clock back"
    )
    func clockJumps() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("pro").code == "granted")
            #expect(await engine.buy("monthly").code == "granted")
            func active(_ engine: PurchaseEngine) async throws -> [String] {
                try await engine.entitlements().filter(\.isActive).map(\.productID)
            }
            device.link.intercept { _, _ in throw LineCut() }
            #expect(try await active(engine) == ["monthly", "pro"])
            device.time.pass(6 * 86_400)
            #expect(try await active(engine) == ["monthly", "pro"])
            device.time.set(-30 * 86_400)
            #expect(try await active(engine) == ["monthly", "pro"])
            #expect(try await engine.diagnostics().isClockBehind)
            device.time.pass(40 * 86_400)
            #expect(try await active(engine) == ["pro"])
            // Another run of the app: the mark was stored.
            let later = try await device.engine()
            #expect(try await active(later) == ["pro"])
            // Forward beyond the period; then the server's answer decides again.
            device.link.intercept(nil)
            #expect(await later.buy("coins").code == "granted")
            #expect(try await active(later).contains("coins"))
        }
    }

    @Test("A subscription that was bought while the clock was years ahead counts, and ends like any other")
    func clockAhead() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.time.set(20 * 366 * 86_400)
            #expect(try await device.engine().buy("monthly").code == "granted")
            func active() async throws -> [String] {
                try await device.engine().entitlements().filter(\.isActive).map(\.productID)
            }
            #expect(try await active() == ["monthly"])
            device.time.set(-20 * 366 * 86_400)
            #expect(try await active() == ["monthly"])
            device.time.set(20 * 366 * 86_400 + 40 * 86_400)
            #expect(try await active().isEmpty)
        }
    }

    @Test("A yearly subscription counts after the clock was years ahead, and nothing is signed anew until it renews")
    func signedOnce() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: false)
            #expect(await engine.buy("yearly").code == "granted")
            func signed() async throws -> String {
                let current = try await device.simulated.current()?.first?.signedTransaction
                let claims = try #require(current).split(separator: ".")[1]
                let text = claims.map { $0 == "-" ? "+" : $0 == "_" ? "/" : "\($0)" }.joined()
                let data = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
                return String(decoding: try #require(data), as: UTF8.self)
            }
            let bought = try await signed()
            await engine.refreshEntitlements()
            let years = 3.0 * 366 * 86_400
            device.time.set(years)
            device.queue.listsNothing.withLock { $0 = true }
            await engine.refreshEntitlements()
            #expect(try await engine.active().isEmpty)
            device.time.set(-years)
            device.queue.listsNothing.withLock { $0 = false }
            try await world.pass(days: 90, device)
            for one in [engine, try await device.engine(hasServer: false)] {
                await one.refreshEntitlements()
                #expect(try await one.active() == ["yearly"])
            }
            #expect(try await signed() == bought)
            try await world.pass(days: 280, device)
            #expect(try await signed() != bought)
        }
    }

    @Test("A device whose clock is wrong by years is served like any other")
    func wrongClock() async throws {
        try await KitWorld.run { world in
            for years in [-20.0, 20] {
                let device = try await world.device()
                device.time.set(years * 366 * 86_400)
                #expect(try await device.engine().buy("coins").code == "granted")
                #expect(try await device.unfinished() == 0)
            }
        }
    }

    @Test("A retry that was planned under another clock is due")
    func clockSetBack() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.time.set(366 * 86_400)
            device.link.intercept { _, _ in throw LineCut() }
            let engine = try await device.engine()
            _ = await engine.buy("coins")
            device.link.intercept(nil)
            device.time.set(-366 * 86_400)
            await engine.retryDue()
            #expect(try await device.unfinished() == 0)
        }
    }

    @Test("A stored document is rejected if any byte was changed")
    func damagedStore() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            #expect(try await device.engine().buy("coins").code == "granted")
            let file = world.folder.appending(path: "\(device.customer).purchases")
            let document = [UInt8](try Data(contentsOf: file))
            #expect(document.count > 200)
            for index in document.indices {
                var changed = document
                changed[index] ^= 1
                try Data(changed).write(to: file)
                #expect(throws: PurchaseError.self, "byte \(index)") { try device.store.read() }
            }
            for length in stride(from: 0, to: document.count, by: 7) {
                try Data(document[..<length]).write(to: file)
                #expect(throws: PurchaseError.self, "\(length) bytes") { try device.store.read() }
            }
            let engine = try await device.engine()
            #expect(await engine.buy("coins").code == "granted")
            #expect(try await device.coins() == 2)
        }
    }

    @Test("Exported purchases are imported once, and contain no evidence")
    func exports() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: false)
            #expect(await engine.buy("coins").code == "granted")
            try await engine.consume(of: "coins", consumptionID: "one")
            let exported = try await engine.exportPurchases()
            #expect(!String(decoding: exported, as: UTF8.self).contains("eyJ"))
            let other = try await device.engine(hasServer: false, store: device.otherStore)
            for _ in 0..<2 { try await other.importPurchases(exported) }
            #expect(try await other.balance(of: "coins") == 0)
            #expect(try await other.purchases().count == 1)
        }
    }

    @Test("Neither events nor diagnostics nor descriptions contain evidence or keys")
    func secrets() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.link.intercept { _, _ in throw LineCut() }
            let engine = try await device.engine()
            let events = await engine.events()
            _ = await engine.buy("coins")
            var text = "\(try await engine.diagnostics())"
            for await event in events {
                dump(event, to: &text)
                break
            }
            let transaction = try #require(try await device.simulated.unfinished().first)
            dump(transaction, to: &text)
            text += "\(transaction) \(String(reflecting: transaction))"
            #expect(text.contains("coins") && !text.contains("eyJ") && !text.contains(world.clientKey))
        }
    }
}
