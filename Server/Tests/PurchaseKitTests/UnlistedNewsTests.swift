import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseServer
import PurchaseVerification
import Synchronization
import Testing

/// Point 1 of the kit's rules, for what the App Store lists no longer: finished consumables, and what it refunded.
@Suite("News about what the App Store does not list")
struct UnlistedNewsTests {
    @Test(
        "1.1 What the backend used up is shown after a day, at a launch and while the app runs",
        arguments: [true, false])
    func usedByBackend(isLaunch: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            var engine = try await device.engine()
            await engine.start()
            #expect(await engine.buy("coins", quantity: 3).code == "granted")
            try await world.consume("coins", by: device.customer)
            #expect(try await engine.balance(of: "coins") == 3)
            try await world.pass(days: 1.1, device)
            if isLaunch {
                engine = try await device.engine()
                await engine.start()
            } else {
                await engine.retryDue()
            }
            #expect(try await engine.balance(of: "coins") == 2)
        }
    }

    @Test("1.1 What another device buys or the App Store refunds there changes the balance after a day")
    func otherDevice() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("coins").code == "granted")
            let other = try await device.engine(store: device.otherStore)
            #expect(await other.buy("coins", quantity: 5).code == "granted")
            try await world.pass(days: 1.1, device)
            await engine.start()
            #expect(try await engine.balance(of: "coins") == 6)
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("transactions/\(id)/refund")
            #expect(await other.handle(try await device.simulated.stored(id)).code == "purchase_revoked")
            try await world.pass(days: 1.1, device)
            await engine.start()
            #expect(try await engine.balance(of: "coins") == 1)
        }
    }

    @Test("1.1 A balance is asked for once a day and not after a purchase, in one request with everything else")
    func requests() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("coins").code == "granted")
            #expect(await engine.buy("pro").code == "granted")
            func asked() -> Int { device.link.paths.count { $0 == "/v1/restores" } }
            for day in 1...3 {
                for _ in 0..<4 { await engine.start() }
                #expect(asked() == day - 1, "day \(day)")
                try await world.pass(days: 1.1, device)
            }
            await engine.start()
            #expect(await engine.buy("coins").code == "granted")
            let before = asked()
            await engine.start()
            #expect(asked() == before)
            #expect(try await engine.balance(of: "coins") == 2)
        }
    }

    @Test(
        "1.1 The evidence of a consumable is asked for its own customer alone, and a guest's after it was handed over")
    func customers() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(isSignedIn: false)
            let guest = try await engine.signInAsGuest()
            #expect(await engine.buy("coins", quantity: 3).code == "granted")
            await engine.signIn(PurchaseCustomer(id: "somebody"))
            try await world.pass(days: 1.1, device)
            device.link.sent.withLock { $0 = [] }
            await engine.start()
            #expect(device.link.paths.isEmpty)
            await engine.signIn(guest)
            try await engine.signIn(PurchaseCustomer(id: device.customer)) { try await world.merge($0, into: $1) }
            try await world.consume("coins", by: device.customer)
            try await world.pass(days: 1.1, device)
            await engine.start()
            #expect(try await engine.balance(of: "coins") == 2)
        }
    }

    @Test("1.10 The evidence of a consumable is one file, whatever the number of purchases")
    func files() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            for _ in 0..<3 { #expect(await engine.buy("coins").code == "granted") }
            let file = world.folder.appending(path: "\(device.customer).purchases")
            let folder = file.appendingPathExtension("evidence")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
            #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("eyJ"))
            // A lost file costs nothing but the question.
            try FileManager.default.removeItem(at: folder)
            let later = try await device.engine()
            await later.start()
            #expect(try await later.balance(of: "coins") == 3)
            #expect(await later.buy("coins").code == "granted")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        }
    }

    @Test("1.1 A refund whose transaction nobody delivered is found at the next launch", arguments: [true, false])
    func missedRefund(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: hasServer)
            #expect(await engine.buy("pro").code == "granted")
            #expect(await engine.buy("yearly").code == "granted")
            for product in ["pro", "yearly"] {
                let id = try #require(
                    try await engine.purchases().last { $0.productID == product }
                ).key.transactionID
                try await device.simulated.control("transactions/\(id)/refund")
            }
            #expect(try await device.unfinished() == 0)
            let later = try await device.engine(hasServer: hasServer)
            let events = await KitEvents(later)
            await later.start()
            #expect(try await later.active().isEmpty)
            #expect(try await events.names().filter { $0 == "revoked" }.count == 2)
        }
    }

    @Test("1.1 What another Apple Account does not list is not taken away", arguments: [true, false])
    func otherAccount(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            #expect(try await device.engine(hasServer: hasServer).buy("pro").code == "granted")
            // The same app and customer, while the device has another Apple Account.
            let elsewhere = try await world.device()
            let later = PurchaseEngine(
                queue: elsewhere.queue, receipts: elsewhere.receipts,
                verifier: DeviceVerifier(
                    app: AppIdentity(bundleID: KitWorld.bundleID, version: "1.0"), device: elsewhere.simulated,
                    anchors: try KitWorld.anchors()),
                server: hasServer
                    ? PurchaseConnection(
                        service: device.link, key: world.clientKey,
                        answerKeys: try AnswerKeys(current: world.signer.publicKey)) : nil,
                store: device.store, time: device.time)
            await later.signIn(PurchaseCustomer(id: device.customer))
            await later.start()
            #expect(try await later.active() == ["pro"])
        }
    }
}
