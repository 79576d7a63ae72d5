import Foundation
import PurchaseKit

extension PurchaseConnection {
    /// The values that `assay dev` prints.
    static let shop: PurchaseConnection = {
        do {
            return PurchaseConnection(
                service: HTTPPurchaseService(server: URL(string: "http://127.0.0.1:8080") ?? URL(fileURLWithPath: "/")), key: "assay_…",
                answerKeys: try AnswerKeys(current: "…", next: "…"))
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}
