import Crypto
import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import PurchaseServer
import Synchronization
import Testing

/// A server whose clock was wrong, and units of several environments.
@Suite("The server's clock, and totals of units")
struct ServerClockTests {
    @Test("1.5 A server whose clock was a year ahead once locks nobody out, and an answer sent twice gains nothing")
    func yearAhead() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let key = Curve25519.Signing.PrivateKey()
            let keys = try AnswerKeys(
                current: key.publicKey.rawRepresentation.base64EncodedString(), next: world.signer.publicKey)
            let engine = try await device.engine(keys: keys)
            let ahead = Int64(Date().timeIntervalSince1970) + 366 * 86_400
            device.link.intercept { request, forward in
                try NetworkTests.resigned(
                    try await forward(request), request, by: key, keyID: NetworkTests.id(of: key), created: ahead)
            }
            #expect(await engine.buy("monthly").code == "granted")
            #expect(await engine.buy("pro").code == "granted")
            #expect(try await engine.active() == ["pro"])
            // The device sees a withdrawal that the server does not confirm.
            await engine.withdraw(["pro"])
            #expect(try await engine.active().isEmpty)
            let answer = Mutex<ServiceAnswer?>(nil)
            device.link.intercept { request, forward in
                let genuine = try await forward(request)
                answer.withLock { $0 = genuine }
                return genuine
            }
            await engine.refreshEntitlements(evenIfKnown: true)
            #expect(try await engine.active() == ["monthly", "pro"])
            // In another run, too.
            #expect(try await device.engine(keys: keys).active() == ["monthly", "pro"])
            device.link.intercept { _, _ in try #require(answer.withLock { $0 }) }
            device.time.pass(40 * 86_400)
            await engine.refreshEntitlements(evenIfKnown: true)
            #expect(try await engine.active() == ["pro"])
        }
    }

    @Test("1.7 Units that were used in TestFlight are not taken from units that somebody paid for")
    func testersUnits() async throws {
        try await KitWorld.run { world in
            let device = try await world.device(environment: "sandbox")
            let inTestFlight = try await device.engine(hasServer: false)
            #expect(await inTestFlight.buy("coins", quantity: 8).code == "granted")
            try await inTestFlight.consume(5, of: "coins", consumptionID: "one")
            #expect(try await inTestFlight.balance(of: "coins") == 3)
            device.queue.otherEnvironment.withLock { $0 = "Production" }
            let inAppStore = try await device.engine(hasServer: false)
            await inAppStore.start()
            let paid = GrantedPurchase(
                key: PurchaseKey(environment: "Production", transactionID: "1"), productID: "coins", kind: .consumable,
                quantity: 10, grantedAt: Date())
            try await inAppStore.adopt([paid])
            #expect(try await inAppStore.balance(of: "coins") == 10)
            try await inAppStore.consume(4, of: "coins", consumptionID: "one")
            #expect(try await inAppStore.balance(of: "coins") == 6)
            // What was stored before names no environment, and counts everywhere.
            let stored = #"{"granted":[],"units":{"coins":{"boughtEarlier":0,"used":2,"uses":[]}}}"#
            try await inAppStore.importPurchases(Data(stored.utf8))
            #expect(try await inAppStore.balance(of: "coins") == 4)
        }
    }

    @Test("1.10 Purchases that an app adopts at each launch are added once, also more than the record lists")
    func adoptedAgain() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let purchases = (1...500).map { number in
                GrantedPurchase(
                    key: PurchaseKey(environment: nil, transactionID: "a\(number)"), productID: "coins",
                    kind: .consumable, grantedAt: Date(timeIntervalSince1970: 1))
            }
            for launch in 1...3 {
                let engine = try await device.engine(hasServer: false)
                try await engine.adopt(purchases)
                #expect(try await engine.balance(of: "coins") == 500, "launch \(launch)")
            }
        }
    }

    @Test("3 An app transaction that StoreKit verified counts on a device without an identifier")
    func appTransactionWithoutIdentifier() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let id = try #require(try await device.sell("pro").transactionID)
            let signed = try await device.simulated.appTransaction(id)
            let engine = try await device.engine(device: LockedDevice())
            await #expect(throws: PurchaseError.self) { try await engine.verify(appTransaction: signed) }
            _ = try await engine.verify(appTransaction: signed, isVerifiedByStoreKit: true)
        }
    }
}
