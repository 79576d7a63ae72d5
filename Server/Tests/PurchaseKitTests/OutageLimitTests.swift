import EvidenceMint
import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

/// What no renewal can do while the server does not answer.
@Suite("What a renewal does not prolong while the server does not answer")
struct OutageLimitTests {
    /// One change of a renewal that would count without it.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var counts = false
        let apply: @Sendable (inout SignedTransactionTemplate) -> Void
    }

    static let bob = UUID()
    static let alice = UUID()

    static let changes: [Change] = [
        Change(testDescription: "nothing", counts: true) { _ in },
        Change(testDescription: "another original") { $0.originalTransactionID = "77" },
        Change(testDescription: "another product") { $0.productID = "monthly" },
        Change(testDescription: "another app") { $0.bundleID = "com.example.other" },
        Change(testDescription: "the sandbox") { $0.environment = "Sandbox" },
        Change(testDescription: "a refund") { $0.revocationDate = $0.signedDate },
        Change(testDescription: "an upgrade") { $0.isUpgraded = true },
        Change(testDescription: "a purchase instead of a renewal") { $0.transactionReason = "PURCHASE" },
        Change(testDescription: "signed before the answer") { $0.signedDate? -= 8 * 86_400 },
        Change(testDescription: "a gap of ten minutes") { $0.purchaseDate? += 600 },
        Change(testDescription: "a gap of four minutes", counts: true) { $0.purchaseDate? += 240 },
        Change(testDescription: "a token of another customer") { $0.appAccountToken = bob.uuidString.lowercased() },
        Change(testDescription: "a token that nobody knows") { $0.appAccountToken = UUID().uuidString.lowercased() },
        Change(testDescription: "the customer's own token", counts: true) {
            $0.appAccountToken = alice.uuidString.lowercased()
        },
        Change(testDescription: "a copy of the family") { $0.inAppOwnershipType = "FAMILY_SHARED" },
        Change(testDescription: "no end") { $0.expiresDate = nil },
    ]

    /// A subscriber whose answer has ended, with an engine that is cut off.
    private func subscriber(
        _ world: KitWorld, device identity: any DeviceIdentity = LockedDevice()
    ) async throws -> (KitDevice, PurchaseEngine) {
        let device = try await world.device()
        let engine = try await device.engine(isSignedIn: false, device: identity)
        await engine.signIn(PurchaseCustomer(id: "bob", appAccountToken: Self.bob))
        await engine.signIn(PurchaseCustomer(id: device.customer, appAccountToken: Self.alice))
        await engine.signIn(PurchaseCustomer(id: device.customer))
        #expect(await engine.buy("weekly").code == "granted")
        device.link.isCut(true)
        device.time.pass(7.01 * 86_400)
        #expect(try await engine.active().isEmpty)
        return (device, engine)
    }

    @Test("It counts as it is, and not with one change", arguments: changes)
    func change(_ change: Change) async throws {
        try await OutageWorld.run { world in
            let (device, engine) = try await subscriber(world)
            _ = await engine.handle(try await device.renewal(of: engine, change.apply))
            #expect(try await engine.active() == (change.counts ? ["weekly"] : []))
            #expect(try await device.engine().active() == (change.counts ? ["weekly"] : []))
        }
    }

    @Test("A signature that is wrong, one of somebody else's root, or one that StoreKit refused")
    func signatures() async throws {
        try await OutageWorld.run { world in
            let (device, engine) = try await subscriber(world, device: OutageDevice())
            let genuine = try await device.renewal(of: engine) {
                $0.deviceVerification = DeviceVerification(nonce: UUID(), deviceID: MintedWorld.device)
            }
            var (refused, garbled) = (genuine, genuine)
            refused.isVerifiedByStoreKit = false
            garbled.signedTransaction = genuine.signedTransaction.map { String($0.dropLast(8)) + "AAAAAAAA" }
            for transaction in [refused, garbled] {
                _ = await engine.handle(transaction)
                #expect(try await engine.active().isEmpty)
            }
            let ofApple = try await device.engine(device: OutageDevice(), anchors: TrustAnchor.apple)
            _ = await ofApple.handle(genuine)
            #expect(try await ofApple.active().isEmpty)
            _ = await engine.handle(genuine)
            #expect(try await engine.active() == ["weekly"])
        }
    }

    @Test("A renewal that was signed for another device")
    func otherDevice() async throws {
        try await OutageWorld.run { world in
            let (device, engine) = try await subscriber(world, device: try await world.device().simulated)
            let signed = try await device.renewal(of: engine) {
                $0.deviceVerification = DeviceVerification(nonce: UUID(), deviceID: MintedWorld.device)
            }
            _ = await engine.handle(signed)
            #expect(try await engine.active().isEmpty)
        }
    }

    @Test(
        "A renewal whose signed transaction had an unknown token, also by a receipt that states none",
        arguments: [true, false])
    func receiptWithoutToken(isKnown: Bool) async throws {
        try await OutageWorld.run { world in
            let device = try await world.device(isSigned: false, environment: "sandbox")
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            device.link.isCut(true)
            device.time.pass(7.01 * 86_400)
            let identifier = try #require(await device.simulated.deviceVerificationID())
            let bytes = identifier.bytes
            let deviceID = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            let paid = try #require(try await engine.purchases().last)
            let ends = try #require(paid.expirationDate)
            let renewal = try await device.renewal(of: engine) {
                $0.environment = "Sandbox"
                $0.appAccountToken = UUID().uuidString.lowercased()
                $0.deviceVerification = DeviceVerification(nonce: UUID(), deviceID: deviceID)
            }
            let next = PurchaseTemplate.subscription(
                productID: "weekly", transactionID: try #require(renewal.transactionID),
                originalTransactionID: paid.key.transactionID, purchaseDate: ends,
                expiresDate: ends.addingTimeInterval(7 * 86_400))
            var receipt = AppReceiptTemplate.sandbox(
                bundleID: KitWorld.bundleID, creationDate: device.time.now.addingTimeInterval(60), purchases: [next],
                device: bytes)
            receipt.applicationVersion = "1.0"
            device.receipts.replace(by: try MintedWorld.mint(receipt))
            if isKnown { _ = await engine.handle(renewal) }
            await engine.refreshEntitlements()
            #expect(try await engine.active() == (isKnown ? [] : ["weekly"]))
        }
    }

    @Test("Somebody else's genuine renewal, with and without a subscription of one's own", arguments: [true, false])
    func injected(isSubscriber: Bool) async throws {
        try await OutageWorld.run { world in
            let victim = try await world.device()
            #expect(await (try victim.engine()).buy("weekly").code == "granted")
            let thief = try await world.device()
            let engine = try await thief.engine(device: LockedDevice())
            if isSubscriber { #expect(await engine.buy("weekly").code == "granted") }
            thief.link.isCut(true)
            try await world.pass(days: 7.04, victim, thief)
            let genuine = try #require(try await victim.simulated.unfinished().first)
            _ = await engine.handle(genuine)
            #expect(try await engine.active().isEmpty)
        }
    }

    @Test("Another customer of the device, whom the server granted nothing")
    func otherCustomer() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            try await device.renewInOutage(engine)
            #expect(try await engine.active() == ["weekly"])
            await engine.signIn(PurchaseCustomer(id: "somebody"))
            #expect(try await engine.active().isEmpty)
            await engine.signIn(PurchaseCustomer(id: device.customer))
            #expect(try await engine.active() == ["weekly"])
        }
    }

    @Test("The former owner, after the server granted the original to another customer of the device")
    func transferred() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("weekly").code == "granted")
            // Answers are signed with the second.
            try await world.pass(days: 0.001, device)
            try await world.move(try #require(try await device.lastTransaction()), to: "somebody")
            await engine.signIn(PurchaseCustomer(id: "somebody"))
            _ = await engine.restore()
            #expect(try await engine.active() == ["weekly"])
            try await device.renewInOutage(engine)
            await engine.signIn(PurchaseCustomer(id: device.customer))
            #expect(try await engine.active().isEmpty)
        }
    }

    @Test("A subscription of TestFlight in the build from the App Store")
    func sandbox() async throws {
        try await OutageWorld.run { world in
            let device = try await world.device(environment: "sandbox")
            let inTestFlight = try await device.engine()
            #expect(await inTestFlight.buy("weekly").code == "granted")
            try await device.renewInOutage(inTestFlight)
            #expect(try await inTestFlight.active() == ["weekly"])
            device.queue.otherEnvironment.withLock { $0 = "Production" }
            let inAppStore = try await device.engine()
            await inAppStore.start()
            #expect(try await inAppStore.active().isEmpty)
        }
    }

    @Test("A period that Apple refunds in the outage, delivered or found, and handed in again as it was before")
    func refund() async throws {
        for isDelivered in [true, false] {
            try await OutageWorld.run { world in
                let device = try await world.device()
                let engine = try await device.engine()
                #expect(await engine.buy("weekly").code == "granted")
                let renewal = try await device.renewInOutage(engine)
                #expect(try await engine.active() == ["weekly"])
                let id = try #require(renewal.transactionID)
                try await world.pass(days: 0.1, device)
                try await device.simulated.control("transactions/\(id)/refund")
                if isDelivered {
                    _ = await engine.handle(try await device.simulated.stored(id))
                } else {
                    await engine.refreshEntitlements()
                }
                #expect(try await engine.active().isEmpty)
                _ = await engine.handle(renewal)
                #expect(try await engine.active().isEmpty)
                #expect(try await device.engine().active().isEmpty)
            }
        }
    }

    @Test("A subscription whose granted period is refunded, or that the system withdraws")
    func earlierRefund() async throws {
        try await OutageWorld.run { world in
            for isRefund in [true, false] {
                let (device, engine) = try await subscriber(world)
                _ = await engine.handle(try await device.renewal(of: engine))
                #expect(try await engine.active() == ["weekly"])
                let paid = try #require(try await device.lastTransaction())
                if isRefund {
                    try await device.simulated.control("transactions/\(paid)/refund")
                    _ = await engine.handle(try await device.simulated.stored(paid))
                } else {
                    await engine.withdraw(["weekly"])
                }
                #expect(try await engine.active().isEmpty)
                #expect(try await device.engine().active().isEmpty)
            }
        }
    }

    @Test("A copy of the family is prolonged by a copy of the family alone", arguments: [true, false])
    func family(isShared: Bool) async throws {
        try await OutageWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(device: LockedDevice())
            let now = device.time.now
            let purchase = PurchaseTemplate.subscription(
                productID: "weekly", transactionID: "2000000900000001", purchaseDate: now.addingTimeInterval(-60),
                expiresDate: now.addingTimeInterval(7 * 86_400))
            var template = SignedTransactionTemplate(
                purchase: purchase, bundleID: KitWorld.bundleID, environment: "Production", signedDate: now)
            template.inAppOwnershipType = "FAMILY_SHARED"
            let shared = PaymentTransaction(
                transactionID: purchase.transactionID, originalTransactionID: purchase.transactionID,
                productID: "weekly", environment: "Production",
                signedTransaction: String(decoding: try MintedWorld.mint(template), as: UTF8.self))
            #expect(await engine.handle(shared).code == "granted")
            #expect(try await engine.active() == ["weekly"])
            device.link.isCut(true)
            device.time.pass(7.01 * 86_400)
            let renewal = try await device.renewal(of: engine) {
                $0.inAppOwnershipType = isShared ? "FAMILY_SHARED" : "PURCHASED"
            }
            _ = await engine.handle(renewal)
            #expect(try await engine.active() == (isShared ? ["weekly"] : []))
        }
    }
}
