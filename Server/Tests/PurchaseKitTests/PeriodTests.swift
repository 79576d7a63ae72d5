import EvidenceMint
import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseVerification
import TestSupport
import Testing

/// The periods of a subscription that the record keeps, without a server.
@Suite("The periods of a subscription")
struct PeriodTests {
    static let orders = [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 4, 1, 3], [5, 0, 1, 2, 3, 4]]

    @Test("1.10 Of each subscription the newest periods are kept, in whatever order they are added", arguments: orders)
    func adopted(order: [Int]) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: false)
            let now = device.time.now
            try await engine.adopt(
                order.map { number in
                    GrantedPurchase(
                        key: PurchaseKey(environment: nil, transactionID: "period-\(number)"),
                        originalTransactionID: "period-0", productID: "monthly", kind: .autoRenewableSubscription,
                        purchaseDate: Self.start(number, now), expirationDate: Self.start(number + 1, now),
                        grantedAt: now)
                })
            let kept = try await engine.purchases().map(\.key.transactionID)
            #expect(Set(kept) == ["period-3", "period-4", "period-5"])
            #expect(try await engine.active() == ["monthly"])
        }
    }

    @Test("1.10 A receipt shows the paid period, in whatever order it lists them", arguments: orders)
    func receipt(order: [Int]) async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: false, environment: "sandbox")
            let now = device.time.now
            let first = 2_000_000_000_000_001
            let periods = order.map { number in
                PurchaseTemplate.subscription(
                    productID: "monthly", transactionID: "\(first + number)", originalTransactionID: "\(first)",
                    purchaseDate: Self.start(number, now), originalPurchaseDate: Self.start(0, now),
                    expiresDate: Self.start(number + 1, now))
            }
            var template = AppReceiptTemplate.sandbox(
                bundleID: KitWorld.bundleID, creationDate: now, purchases: periods,
                device: MintedDevice.identifier.bytes)
            template.applicationVersion = "1.0"
            // The periods stay in the order of the list.
            template.attributeOrder = .byType
            device.receipts.replace(by: try MintedWorld.mint(template))
            let engine = try await device.engine(hasServer: false, device: MintedDevice())
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["monthly"])
            #expect(try await engine.purchases().count == 3)
        }
    }

    /// The last of six periods has begun 10 days ago.
    private static func start(_ number: Int, _ now: Date) -> Date {
        now.addingTimeInterval(Double(number - 5) * 30 * 86_400 - 10 * 86_400)
    }
}

/// The device of minted receipts.
private struct MintedDevice: DeviceIdentity {
    static let identifier = DeviceIdentifier(identifierForVendor: MintedWorld.device)

    func receiptIdentifiers() async -> [DeviceIdentifier] { [Self.identifier] }
    func deviceVerificationID() async -> DeviceIdentifier? { Self.identifier }
}
