import Foundation
import PurchaseKit
import PurchaseKitSimulator

/// The app of the tutorial's first section: it buys "pro" at the store of `assay dev`, and shows whether the customer
/// has it, until they no longer do.
@main
struct FirstApp {
    @MainActor
    static func main() async throws {
        let store = SimulatedStore()
        let app = AppIdentity(bundleID: "com.example.app", version: "1.0")
        let engine = PurchaseEngine(
            queue: SimulatorQueue(store),
            verifier: DeviceVerifier(app: app, device: SimulatorDevice(store), anchors: try await store.anchors()),
            server: nil, store: MemoryPurchaseStore())
        let purchases = PurchaseModel(engine)
        await purchases.buy("pro")
        for await entitlements in engine.entitlementUpdates() {
            let isPro = entitlements.contains { $0.productID == "pro" && $0.isActive }
            // A line at once, also into a file.
            FileHandle.standardOutput.write(Data("pro: \(isPro ? "yes" : "no")\n".utf8))
            if !isPro { break }
        }
    }
}
