#if canImport(StoreKit)
    import Foundation
    import PurchaseKit
    import StoreKit

    /// Asks for one product.
    ///
    /// Unchecked: StoreKit answers once, after `start`.
    final class ProductRequest: NSObject, SKProductsRequestDelegate, @unchecked Sendable {
        private let productID: String
        private let request: SKProductsRequest
        private var continuation: CheckedContinuation<Found, any Error>?

        /// `SKProduct` is not `Sendable`, but does not change after it was received.
        struct Found: @unchecked Sendable {
            let value: SKProduct
        }

        init(_ productID: String) {
            self.productID = productID
            request = SKProductsRequest(productIdentifiers: [productID])
            super.init()
            request.delegate = self
        }

        func product() async throws -> Found {
            try await withCheckedThrowingContinuation { continuation in
                self.continuation = continuation
                request.start()
            }
        }

        func productsRequest(_: SKProductsRequest, didReceive response: SKProductsResponse) {
            let found = response.products.first { $0.productIdentifier == productID }
            if let found {
                continuation?.resume(returning: Found(value: found))
            } else {
                continuation?.resume(
                    throwing: PurchaseError(.queueFailed, expected: "a product of the App Store", found: productID))
            }
            continuation = nil
        }

        func request(_: SKRequest, didFailWithError error: any Error) {
            continuation?.resume(throwing: error)
            continuation = nil
        }
    }
#endif
