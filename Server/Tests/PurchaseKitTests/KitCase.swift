import Foundation
import PurchaseKit
import Testing

/// One line of the table: the events on a device, and the result.
struct KitCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// How often the server has granted the coins; nil if the case is about another product.
    let coins: Int64?
    /// The number of unfinished transactions.
    let unfinished: Int
    /// The codes of the outcomes, in order.
    let codes: [String]
    let run: @Sendable (KitDevice) async throws -> [String]
    /// Whether the device has a JWS for each transaction.
    let isSigned: Bool

    var testDescription: String { name }

    init(
        _ name: String, coins: Int64? = 1, unfinished: Int = 0, codes: [String], isSigned: Bool = true,
        _ run: @escaping @Sendable (KitDevice) async throws -> [String]
    ) {
        self.name = name
        self.coins = coins
        self.unfinished = unfinished
        self.codes = codes
        self.isSigned = isSigned
        self.run = run
    }

    /// Runs the case on a separate device, and compares the result with the outcomes, the store and the server.
    func check() async throws {
        let name = name
        let (coins, unfinished, codes, isSigned, body) = (coins, unfinished, codes, isSigned, run)
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: isSigned)
            let found = try await body(device)
            #expect(found == codes, "\(name)")
            #expect(try await device.unfinished() == unfinished, "\(name): unfinished transactions")
            guard let coins else { return }
            #expect(try await device.coins() == coins, "\(name): coins at the server")
            // The device has what the server granted, once, or nothing.
            device.link.intercept { _, _ in throw LineCut() }
            let engine = try await device.engine()
            let local = try await engine.purchases().filter { $0.productID == "coins" && $0.endedAt == nil }
            #expect(local.reduce(0) { $0 + $1.quantity } <= coins, "\(name): coins on the device")
            #expect(Set(local.map(\.key.transactionID)).count == local.count)
        }
    }
}
