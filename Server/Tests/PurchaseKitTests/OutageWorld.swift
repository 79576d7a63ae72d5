import EvidenceMint
import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import ServerTestSupport
import TestSupport
import Testing

/// A world with a weekly subscription, for renewals while the server does not answer.
enum OutageWorld {
    static let app: RegisteredApp = {
        var app = KitWorld.app
        app.products["weekly"] = RegisteredProduct(kind: .autoRenewable, entitlements: ["pro"])
        return app
    }()

    static func run(_ body: @escaping @Sendable (KitWorld) async throws -> Void) async throws {
        try await KitWorld.run(app) { world in
            try await SimulatorDevice(port: world.simulator.port, customerID: "nobody").control(
                "products",
                [
                    "bundle_id": KitWorld.bundleID, "product_id": "weekly", "kind": "auto-renewable",
                    "subscription": ["group_id": "weeks", "level": 1, "period": "P1W"],
                ])
            try await body(world)
        }
    }
}

extension KitDevice {
    /// Lets the subscription renew in the store while the server is down, and hands the renewals to the app.
    ///
    /// - Returns: the newest renewal.
    @discardableResult
    func renewInOutage(_ engine: PurchaseEngine, days: Double = 7.04) async throws -> PaymentTransaction {
        link.isCut(true)
        try await world.pass(days: days, self)
        let renewals = try await simulated.unfinished()
        for renewal in renewals { #expect(await engine.handle(renewal).code == "connection_failed") }
        return try #require(renewals.last)
    }

    /// The renewal after the last period, as the App Store would sign it now, with one change.
    func renewal(
        of engine: PurchaseEngine, _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) async throws -> PaymentTransaction {
        let paid = try #require(try await engine.purchases().last)
        let ends = try #require(paid.expirationDate)
        let original = paid.originalTransactionID ?? paid.key.transactionID
        let purchase = PurchaseTemplate.subscription(
            productID: paid.productID, transactionID: "99\(paid.key.transactionID)", originalTransactionID: original,
            purchaseDate: ends, expiresDate: ends.addingTimeInterval(7 * 86_400))
        var template = SignedTransactionTemplate(
            purchase: purchase, bundleID: KitWorld.bundleID, environment: "Production", signedDate: time.now)
        change(&template)
        let signed = String(decoding: try MintedWorld.mint(template), as: UTF8.self)
        return PaymentTransaction(
            transactionID: template.transactionID, originalTransactionID: original,
            productID: template.productID ?? "", environment: template.environment,
            appAccountToken: template.appAccountToken.flatMap { UUID(uuidString: $0) }, signedTransaction: signed,
            purchaseDate: template.purchaseDate, expirationDate: template.expiresDate,
            revocationDate: template.revocationDate, isUpgraded: template.isUpgraded ?? false)
    }
}

extension PurchaseEngine {
    /// The entitlement to the weekly subscription.
    func weekly() throws -> PurchaseEntitlement? { try entitlements().first { $0.productID == "weekly" } }
}

/// The device of minted evidence.
struct OutageDevice: DeviceIdentity {
    func receiptIdentifiers() async -> [DeviceIdentifier] { [] }
    func deviceVerificationID() async -> DeviceIdentifier? { DeviceIdentifier(identifierForVendor: MintedWorld.device) }
}
