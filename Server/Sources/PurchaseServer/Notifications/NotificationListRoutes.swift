import Hummingbird
package import PurchaseAPI
package import PurchaseLedger

/// `GET /v1/notifications`: what the App Store told the server.
struct NotificationListRoutes {
    let api: PurchaseAPIContext

    func add(to group: RouterGroup<ServerContext>) {
        group.get("notifications") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let filter = NotificationFilter(
                type: try request.identifier("type"), subtype: try request.identifier("subtype"),
                customerID: try request.identifier("customer_id"),
                transactionID: try request.identifier("transaction_id"))
            let page = try await api.page(of: NotificationList(app: app, filter: filter), request)
            return try Response.json(
                NotificationPage(
                    notifications: page.entries.map { NotificationMessage($0) }, nextCursor: page.next?.text))
        }
    }
}

extension NotificationMessage {
    package init(_ record: NotificationRecord) {
        self.init(receivedAt: "\(record.receivedAt)", entryID: record.entryID.text)
        notificationID = record.notificationID
        type = record.type
        subtype = record.subtype
        signedAt = record.signedAt.map { "\($0)" }
        environment = record.environment
        content = record.content?.rawValue
        status = record.status
        refundReason = record.refundReason
        originalTransactionID = record.originalTransactionID
        transactionID = record.transactionID
        customerID = record.customerID
        evidenceSHA256 = record.evidenceSHA256
    }
}
