import HostileBytes
import PurchaseVerification

/// Uses the input as a part of a genuine transaction receipt. `inspect` reads the signed list although the signature
/// does not match, so the readers of lists, dates and numbers get every input.
struct TransactionReceiptTarget {
    private let genuine: LooseTransactionReceipt

    init(_ store: EvidenceSamples) throws {
        guard let sample = try store.transactionReceipts().last, let genuine = LooseTransactionReceipt(sample.bytes)
        else { throw FuzzError.unreadableSeed }
        self.genuine = genuine
    }

    func check(list: [UInt8]) {
        World.shared.checkVerdict(of: list)
        var receipt = genuine
        receipt.purchaseInfo = list
        World.shared.checkVerdict(of: receipt.bytes)
    }

    func check(signatureField: [UInt8]) {
        var receipt = genuine
        receipt.field = signatureField
        World.shared.checkVerdict(of: receipt.bytes)
    }

    /// Reads a receipt through every accessor: every value read is in the list.
    static func check<Trust>(_ receipt: TransactionReceiptContent<Trust>) {
        let attributes = receipt.attributes
        func value(_ key: String) -> String? { attributes.first { $0.key == key }?.value }
        demand(!receipt.transactionID.isEmpty && !receipt.productID.isEmpty, "a purchase without a name")
        demand(Set(attributes.map(\.key)).count <= attributes.count, "keys were lost")
        demand(attributes.contains { $0.value == receipt.transactionID }, "a transaction that nobody wrote")
        if let quantity = receipt.quantity {
            demand(attributes.contains { UInt64($0.value) == quantity }, "a quantity that nobody wrote")
        }
        _ = (receipt.purchaseDate.description, receipt.originalPurchaseDate?.description)
        _ = (receipt.expiresDate?.description, receipt.cancellationDate?.description, receipt.environment?.name)
        _ = (receipt.productAppleID, receipt.appAppleID, receipt.versionExternalIdentifier, receipt.webOrderLineItemID)
        _ = (receipt.bundleID, receipt.applicationVersion, receipt.subscriptionGroupIdentifier, receipt.ownershipType)
        _ = (receipt.uniqueIdentifier, receipt.uniqueVendorIdentifier, receipt.isTrialPeriod)
        _ = (receipt.originalTransactionID, receipt.isInIntroOfferPeriod)
    }
}
