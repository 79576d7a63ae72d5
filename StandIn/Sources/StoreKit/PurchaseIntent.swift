public struct PurchaseIntent: Sendable {
    public let product: Product
    public let offer: Product.SubscriptionOffer?

    /// What the customer chose on the App Store, for tests.
    public static func standIn(_ productID: String, winBack offerID: String) async throws -> PurchaseIntent {
        let products = try await Product.products(for: [productID])
        guard let product = products.first else {
            throw StandInStore.Refusal(status: 404, text: "The store does not sell \(productID).")
        }
        return PurchaseIntent(
            product: product, offer: product.subscription?.winBackOffers.first { $0.id == offerID })
    }

    private static let chosen = AsyncStream<PurchaseIntent>.makeStream()

    public static func choose(_ intent: PurchaseIntent) { chosen.continuation.yield(intent) }

    public static var intents: AsyncStream<PurchaseIntent> { chosen.stream }
}
