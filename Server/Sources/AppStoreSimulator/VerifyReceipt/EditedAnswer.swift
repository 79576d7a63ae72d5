import PurchaseAPI

extension AnswerFault.Edit {
    /// 2099-12-12T12:00:00Z, a date that forgers of answers use.
    private static let lateExpiry = AppleDate(millisecondsSince1970: 4_100_760_000_000)

    /// A true answer with the field changed; the rest stays the same, byte for byte.
    func applied(to json: [UInt8]) throws -> [UInt8] {
        var response = try VerifyReceiptResponse(json: json)
        switch self {
        case .bundle:
            response.receipt?.bundleID = "com.example.other"
            response.flatReceipt?["bid"] = "com.example.other"
        case .environment:
            response.environment = response.environment.map {
                $0.utf8.elementsEqual("Production".utf8) ? "Sandbox" : "Production"
            }
        case .empty:
            response.receipt?.inApp = []
            response.latestReceiptInfo = response.latestReceiptInfo.map { _ in [] }
        case .product, .expiry, .transaction, .quantity, .cancellation:
            let purchases = (response.receipt?.inApp ?? []).map(edited)
            response.receipt?.inApp = purchases
            response.latestReceiptInfo = response.latestReceiptInfo?.map(edited)
            edit(&response.flatReceipt)
            edit(&response.latestFlatReceiptInfo)
        }
        return response.json()
    }

    private func edited(_ purchase: VerifyReceiptResponse.InAppPurchase) -> VerifyReceiptResponse.InAppPurchase {
        var purchase = purchase
        switch self {
        case .product: purchase.productID += ".lifetime"
        case .expiry: purchase.expiresDate = Self.lateExpiry
        case .transaction: purchase.transactionID += "7"
        case .quantity: purchase.quantity = (purchase.quantity ?? 1) + 10
        case .cancellation:
            purchase.cancellationDate = nil
            purchase.cancellationReason = nil
        case .bundle, .environment, .empty: break
        }
        return purchase
    }

    private func edit(_ receipt: inout FlatReceipt?) {
        guard var edited = receipt else { return }
        switch self {
        case .product: edited["product_id"] = (edited["product_id"] ?? "") + ".lifetime"
        case .expiry: edited["expires_date"] = "\(Self.lateExpiry.millisecondsSince1970)"
        case .transaction: edited["transaction_id"] = (edited["transaction_id"] ?? "") + "7"
        case .quantity: edited["quantity"] = "11"
        case .cancellation: edited["cancellation_date"] = nil
        case .bundle, .environment, .empty: break
        }
        receipt = edited
    }
}
