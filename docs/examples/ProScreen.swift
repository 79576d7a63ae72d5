import PurchaseKit
import SwiftUI

struct ProScreen: View {
    @EnvironmentObject private var purchases: PurchaseModel

    var body: some View {
        if purchases.isActive("pro") {
            Text("You have Pro.")
        } else if !purchases.isLoaded {
            ProgressView()
        } else {
            Button("Buy Pro") { Task { await purchases.buy("pro") } }.disabled(purchases.isBusy)
        }
    }
}
