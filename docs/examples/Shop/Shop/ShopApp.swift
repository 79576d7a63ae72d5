import PurchaseKit
import PurchaseKitStoreKit
import SwiftUI

/// A shop and a screen for "pro", with Xcode's store and without a server: open Shop.xcodeproj, and run.
@main
struct ShopApp: App {
    @StateObject private var purchases = PurchaseModel(
        PurchaseEngine(bundleID: "com.example.shop", queue: StoreKit2Queue(), server: nil))

    var body: some Scene { WindowGroup { ContentView().purchases(purchases) } }
}

struct ContentView: View {
    @EnvironmentObject private var purchases: PurchaseModel

    var body: some View { ProView().requires("pro", in: purchases) { ShopView() } }
}

struct ProView: View {
    @EnvironmentObject private var purchases: PurchaseModel

    var body: some View {
        VStack {
            Text("You have Pro.")
            Text("Coins: \(purchases.balance("coins"))")
        }
    }
}

struct ShopView: View {
    @EnvironmentObject private var purchases: PurchaseModel
    @State private var products: [PurchaseProduct] = []
    @State private var problem: String?

    var body: some View {
        List {
            ForEach(products) { product in
                Button("\(product.name) · \(product.priceText)") { Task { await purchases.buy(product.productID) } }
                    .disabled(purchases.isBusy)
            }
            if let message = problem ?? purchases.outcome?.message { Text(message) }
            RestoreButton(purchases)
        }
        .task { await load() }
    }

    private func load() async {
        do {
            products = try await purchases.engine.products(["pro", "monthly", "coins"])
        } catch {
            problem = "The App Store cannot be reached."
        }
    }
}

struct ShopPreviews: PreviewProvider {
    static var previews: some View {
        ContentView().purchases(.preview(active: ["pro"], balances: ["coins": 3]))
    }
}
