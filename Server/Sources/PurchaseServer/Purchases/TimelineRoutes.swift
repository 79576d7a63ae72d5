import Foundation
import Hummingbird
package import PurchaseAPI
package import PurchaseLedger
import PurchaseVerification

/// `GET /v1/customers/{id}/timeline`: what happened to a customer.
struct TimelineRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("customers/:id/timeline") { request, context in
            let query = CustomerTimeline(
                app: try context.requireCaller(.backend).app.id, customerID: try context.identifier("id"),
                cursor: try request.cursor().map(TimelineCursor.init(parts:)), limit: try request.limit())
            return try Response.json(TimelinePage(query, try await api.ledger.answer(query)))
        }
    }
}

extension TimelinePage {
    package init(_ query: CustomerTimeline, _ answer: CustomerTimeline.Answer) {
        let isMerged = answer.customerID.map { !$0.utf8.elementsEqual(query.customerID.utf8) } ?? false
        self.init(
            customerID: query.customerID, mergedInto: isMerged ? answer.customerID : nil,
            timeline: answer.entries.map { TimelineMessage($0) }, nextCursor: answer.next?.text)
    }
}

extension TimelineMessage {
    package init(_ entry: TimelineEntry) {
        self.init(
            at: "\(entry.at)", count: entry.count, type: entry.type, text: entry.text, source: entry.source,
            entryID: entry.entryID.text)
        lastAt = entry.lastAt.map { "\($0)" }
        code = entry.code
        environment = entry.environment
        productID = entry.productID
        transactionID = entry.transactionID
        orderID = entry.orderID
        formerCustomerID = entry.formerCustomerID
        units = entry.units
        balance = entry.balance
        until = entry.until.map { "\($0)" }
        reason = entry.reason
    }
}

extension TimelineCursor {
    fileprivate init(parts: [String]) throws {
        guard parts.count == 3, let event = Int64(parts[0]), let at = Int64(parts[1]), let key = Int64(parts[2]) else {
            throw Problem.cursor
        }
        self.init(event: event, claim: JournalCursor(at: Timestamp(millisecondsSince1970: at), key: key))
    }

    fileprivate var text: String {
        Cursor.text(["\(event)", "\(claim.at.millisecondsSince1970)", "\(claim.key)"])
    }
}
