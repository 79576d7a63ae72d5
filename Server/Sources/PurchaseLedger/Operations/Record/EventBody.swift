import Foundation
import PurchaseVerification

/// The JSON form of an event, in one format for all types. Keys and types are stable; webhooks use the same form.
struct EventBody: Codable, Sendable {
    var type: String
    var at: String
    var app: String
    var customer_id: String?
    var former_customer_id: String?
    var environment: String?
    /// Whether purchases of the environment count for the customer, by the settings as they are now.
    var counts: Bool?
    var product_id: String?
    var transaction_id: String?
    var original_transaction_id: String?
    var order_id: String?
    var units: Int64?
    var balance: Int64?
    var shortfall: Int64?
    var until: String?
    var reason: String?
    var submission_id: String?
    var entry_id: String

    init(_ event: NamedEvent, app: RegisteredApp) {
        type = event.type
        at = "\(event.at)"
        self.app = app.id
        customer_id = event.customer
        former_customer_id = event.formerCustomer
        environment = event.environment
        let isCounted = event.environment.map {
            app.sandboxAccess.counts(AppStoreEnvironment($0), isTester: event.isTester)
        }
        counts = isCounted
        product_id = event.productID
        transaction_id = event.transactionID
        original_transaction_id = event.originalTransactionID
        order_id = event.orderID?.text
        units = event.figures.units
        // As in the customer's entitlements: what does not count gives nothing.
        balance = event.figures.balance.map { isCounted == false ? 0 : $0 }
        shortfall = event.figures.shortfall.map { isCounted == false ? 0 : $0 }
        until = event.figures.until.map { "\($0)" }
        reason = event.figures.reason
        submission_id = event.figures.submission
        entry_id = event.entryID.text
    }

    func encoded() throws(LedgerStorageError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(self))
        } catch {
            throw LedgerStorageError(.other, "an event cannot be encoded: \(error)")
        }
    }
}
