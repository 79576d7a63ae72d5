extension PurchaseEngine {
    /// The products with these ids that the App Store sells, in the order of the ids, with price text, period and
    /// offers: what a shop shows. The type is the same for both APIs of StoreKit.
    ///
    /// - Throws: the queue's error, as without a network.
    public nonisolated func products(_ productIDs: [String]) async throws -> [PurchaseProduct] {
        try await queue.products(productIDs)
    }
}
