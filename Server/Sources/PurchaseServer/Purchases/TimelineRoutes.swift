import Hummingbird
package import PurchaseAPI
package import PurchaseLedger

/// `GET /v1/customers/{id}/timeline`: what happened to a customer.
struct TimelineRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("customers/:id/timeline") { request, context in
            let query = CustomerTimeline(
                app: try context.requireCaller(.backend).app.id, customerID: try context.identifier("id"))
            let page = try await api.page(of: query, request)
            return try Response.json(
                TimelinePage(
                    customerID: query.customerID, mergedInto: page.mergedInto,
                    timeline: page.entries.map { TimelineMessage($0) }, nextCursor: page.next?.text))
        }
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
