#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// One request of the original API: for products, or for a new receipt, which brings none.
    ///
    /// Unchecked: StoreKit answers once, after `start`, and does not change a product that it has delivered.
    final class StoreRequest: NSObject, SKProductsRequestDelegate, @unchecked Sendable {
        private let request: SKRequest
        private var continuation: CheckedContinuation<Void, any Error>?
        private(set) var products: [SKProduct] = []

        init(_ request: SKRequest) {
            self.request = request
            super.init()
            request.delegate = self
        }

        func run() async throws {
            // StoreKit does not keep the delegate.
            defer { withExtendedLifetime(self) {} }
            try await withCheckedThrowingContinuation { continuation in
                self.continuation = continuation
                request.start()
            }
        }

        func productsRequest(_: SKProductsRequest, didReceive response: SKProductsResponse) {
            products = response.products
        }

        func requestDidFinish(_: SKRequest) { end(.success(())) }

        func request(_: SKRequest, didFailWithError error: any Error) { end(.failure(error)) }

        private func end(_ result: Result<Void, any Error>) {
            continuation?.resume(with: result)
            continuation = nil
        }
    }
#endif
