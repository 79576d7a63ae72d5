import PurchaseAPI
import PurchaseServer
import PurchaseVerification

/// The content of verified evidence, with the keys of Apple's answers, or in a few lines for people.
enum EvidenceContent {
    static func write(_ evidence: VerifiedEvidence, to json: inout JSONWriter) {
        switch evidence {
        case .appReceipt(let receipt):
            VerifyReceiptResponse.Receipt(receipt, requestDate: nil).write(to: &json)
        case .transactionReceipt(let receipt):
            FlatReceipt(receipt).write(to: &json)
        case .signedTransaction(let content): claims(content.payload, to: &json)
        case .signedRenewalInfo(let content): claims(content.payload, to: &json)
        case .appTransaction(let content): claims(content.payload, to: &json)
        case .notification(let content): claims(content.payload, to: &json)
        case .realtimeRequest(let content): claims(content.payload, to: &json)
        }
    }

    /// Claims are written again, in one line.
    private static func claims(_ payload: [UInt8], to json: inout JSONWriter) {
        if let claims = WrittenJSON.bounded(payload) {
            claims.write(to: &json)
        } else {
            json.string(String(decoding: payload, as: UTF8.self))
        }
    }

    static func text(_ evidence: VerifiedEvidence) -> String {
        switch evidence {
        case .appReceipt(let receipt):
            line(receipt.bundleID, receipt.applicationVersion, receipt.environment, receipt.creationDate)
        case .transactionReceipt(let receipt):
            line(receipt.bundleID, receipt.applicationVersion, receipt.environment, receipt.purchaseDate)
                + purchase(
                    receipt.transactionID, receipt.productID, receipt.expiresDate, receipt.cancellationDate)
        case .signedTransaction(let content): transaction(content)
        case .signedRenewalInfo(let content): renewalInfo(content)
        case .appTransaction(let content):
            line(content.bundleID, content.applicationVersion, content.environment, content.creationDate)
                + "          app bought \(content.originalPurchaseDate?.description ?? "-")\n"
        case .notification(let content):
            line(content.bundleID, content.data?.bundleVersion, content.environment, content.signedDate)
                + "          \((content.notificationType?.rawValue).plain) \(content.subtype?.rawValue.printable ?? "")\n"
                + (content.transaction.map(transaction) ?? "") + (content.renewalInfo.map(renewalInfo) ?? "")
        case .realtimeRequest(let content):
            "          asks about subscription \(content.originalTransactionID.plain) of \(content.productID.plain)"
                + ", \(content.environment.name.printable)\n"
        }
    }

    private static func transaction(_ content: SignedTransaction) -> String {
        line(content.bundleID, nil, content.environment, content.signedDate)
            + purchase(content.transactionID, content.productID, content.expiresDate, content.revocationDate)
    }

    private static func renewalInfo(_ content: SignedRenewalInfo) -> String {
        let renews = content.autoRenewStatus == .on ? "renews" : "does not renew"
        return "          subscription \(content.originalTransactionID.plain) of \(content.productID.plain) \(renews)"
            + ", \(content.environment.name.printable)\n"
    }

    private static func line(
        _ bundleID: String?, _ version: String?, _ environment: AppStoreEnvironment?, _ moment: AppStoreTime?
    ) -> String {
        let app = [bundleID.plain, version?.printable].compactMap(\.self).joined(separator: " ")
        return "          \(app), \((environment?.name).plain), made \(moment?.description ?? "-")\n"
    }

    private static func purchase(
        _ transactionID: String, _ productID: String, _ expires: AppStoreTime?, _ cancelled: AppStoreTime?
    ) -> String {
        var text = "          transaction \(transactionID.printable) of \(productID.printable)"
        if let expires { text += ", until \(expires)" }
        if let cancelled { text += ", TAKEN BACK \(cancelled)" }
        return text + "\n"
    }
}
