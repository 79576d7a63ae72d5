import PurchaseKitStoreKit
import StoreKit
import SwiftUI

/// The queue of a view that confirms purchases by SwiftUI's own action.
@available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
@MainActor
func queue(_ purchase: PurchaseAction) -> StoreKit2Queue {
    StoreKit2Queue { try await purchase($0, options: $1) }
}
