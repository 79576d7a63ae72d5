import EvidenceMint
import Foundation
import ServerTestSupport
import TestSupport

/// Somebody who has copies of a subscription: its buyer, a member of the family, or a member with a seat.
struct DropInHolder: Sendable {
    /// The transaction of the first period. No answer to another holder may contain it.
    let transaction: String
    var original: String
    let ownership: String
    /// `nil` if signed data does not state it.
    let download: String?

    static let buyer = DropInHolder("910000000001", "PURCHASED", "download-buyer")
    static let child = DropInHolder("520000000001", "FAMILY_SHARED", "download-child")
    static let parent = DropInHolder("530000000001", "FAMILY_SHARED", "download-parent")
    static let seat = DropInHolder("740000000001", "ASSIGNED", "download-seat")
    static let all = [buyer, child, parent, seat]

    init(_ transaction: String, _ ownership: String, _ download: String?) {
        (self.transaction, original, self.ownership, self.download) = (transaction, transaction, ownership, download)
    }

    /// The same holder under another original.
    func of(_ original: String) -> DropInHolder {
        var holder = self
        holder.original = original
        return holder
    }

    /// A product that only this holder's renewal info names.
    var nextProduct: String { "com.example.app.next.\(transaction)" }

    /// Texts that are in answers to this holder alone.
    var texts: [String] { [transaction, nextProduct] }

    /// A receipt with the first period.
    func receipt(on day: Double = 0) throws -> [UInt8] {
        var period = DropInWorld.period(1)
        (period.transactionID, period.originalTransactionID) = (transaction, original)
        period.webOrderLineItemID = 0
        if ownership == "FAMILY_SHARED" { period.ownershipType = .familyShared }
        // Receipts have no known number for this type.
        if ownership == "ASSIGNED" { period.ownershipType = .init(rawValue: 2) }
        var template = AppReceiptTemplate.production(
            bundleID: "com.example.app", creationDate: DropInWorld.date(day), purchases: [period])
        template.downloadID = UInt64(transaction)
        return try MintedWorld.mint(template)
    }

    /// The first period, signed.
    func signed(_ change: (inout SignedTransactionTemplate) -> Void = { _ in }) -> SignedTransactionTemplate {
        DropInWorld.signed(1) {
            ($0.transactionID, $0.originalTransactionID) = (transaction, original)
            ($0.inAppOwnershipType, $0.appTransactionID) = (ownership, download)
            $0.webOrderLineItemID = nil
            change(&$0)
        }
    }

    /// Delivers a notification about the first period.
    func tell(
        _ client: LiveClient, on day: Double, status: Int64? = nil,
        _ change: (inout SignedTransactionTemplate) -> Void = { _ in }
    ) async throws {
        try await DropInWorld.tell(client, signed(change), on: day, status: status) {
            $0.autoRenewProductID = nextProduct
        }
    }

    /// The expected renewal that is in the answer after such a notification.
    var renewal: [String: String] {
        [
            "auto_renew_product_id": nextProduct, "product_id": DropInWorld.monthly,
            "original_transaction_id": original, "auto_renew_status": "1",
        ]
    }
}
