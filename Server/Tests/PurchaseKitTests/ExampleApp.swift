import Foundation
import PurchaseKit

/// A whole app without its views, which the documentation shows.
@MainActor
final class ExampleApp {
    private(set) var messages: [String] = []
    private(set) var coins: Int64 = 0
    private(set) var isPro = false
    private let engine: PurchaseEngine
    private var work: [Task<Void, Never>] = []

    init(
        queue: any PaymentQueue, receipts: any ReceiptSource, verifier: DeviceVerifier, server: PurchaseConnection,
        store: any PurchaseStore
    ) { engine = PurchaseEngine(queue: queue, receipts: receipts, verifier: verifier, server: server, store: store) }

    /// At launch, before anything is shown: StoreKit delivers what arrived while the app was not running.
    func launch(customer: String) async {
        let events = await engine.events()
        work.append(Task { for await event in events { await show(event) } })
        await engine.signIn(PurchaseCustomer(id: customer))
        work.append(Task { [engine] in await engine.run() })
        await update()
    }

    /// A tap on "Buy".
    func buy(_ product: String) async {
        switch await engine.buy(product) {
        case .granted: messages.append("Thank you!")
        case .pending: messages.append("It arrives when it is approved.")
        case .notCounted(let error), .refused(let error), .invalid(let error):
            messages.append("This purchase cannot be used (\(error.code)).")
        case .undetermined: messages.append("Paid. It arrives as soon as it can be verified.")
        case .cancelled, .queued, .failed: return
        }
        await update()
    }

    func restore() async {
        let summary = await engine.restore()
        messages.append("Restored: \(summary.granted.count)")
        await update()
    }

    private func show(_ event: PurchaseEvent) async {
        switch event {
        case .refreshNeeded: messages.append("Tap Refresh to check your purchases.")
        case .revoked(let purchase, _): messages.append("\(purchase.productID) was refunded.")
        case .entitlementsChanged: await update()
        default: break
        }
    }

    private func update() async {
        do {
            coins = try await engine.balance(of: "coins")
            isPro = try await engine.entitlements().contains { $0.productID == "pro" && $0.isActive }
        } catch { messages.append("Your purchases cannot be read: \(error)") }
    }

    func quit() { work.forEach { $0.cancel() } }
}
