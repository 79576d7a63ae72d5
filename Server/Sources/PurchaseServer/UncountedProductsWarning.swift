import Logging
import PurchaseLedger

/// Warns of products whose recorded purchases grant nothing until the settings agree with the evidence.
enum UncountedProductsWarning {
    static func log(_ configuration: ServerConfiguration, _ ledger: PurchaseLedger, _ logger: Logger) async throws {
        for app in configuration.appsInOrder {
            for product in try await ledger.answer(UncountedProducts(app: app.id)) {
                let code: DecisionCode = product.isRegistered ? .productKindMismatch : .productUnknown
                logger.warning(
                    "purchases of a product give nothing, because the settings do not agree with the evidence",
                    metadata: [
                        "app": "\(app.id)", "product": "\(product.productID)",
                        "purchases": product.isCountedWhole
                            ? .stringConvertible(product.uncounted) : "\(product.uncounted) or more",
                        "code": "\(code.rawValue)",
                    ])
            }
        }
    }
}
