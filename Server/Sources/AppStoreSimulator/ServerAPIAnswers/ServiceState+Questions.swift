import EvidenceMint
import Foundation

extension ServiceState {
    /// The answer to `GET /inApps/v1/subscriptions/{any}`.
    mutating func statuses(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
        let owner = try owner(request.path[0], scope)
        var wanted: Set<Int> = []
        for text in request.values("status") {
            guard let status = Int(text), (1...5).contains(status) else {
                throw ServerAPIFailure(4_000_031, "A status is 1 to 5.")
            }
            wanted.insert(status)
        }
        var groups: [(id: String, items: [ClaimValue])] = []
        for subscription in store.state.subscriptions.rows(ofGroup: owner)
        where wanted.isEmpty || wanted.contains(subscription.status.number) {
            let item = ClaimValue.object([
                Claim("status", .integer(Int64(subscription.status.number))),
                Claim("originalTransactionId", .string(subscription.originalTransactionID)),
                Claim(
                    "signedTransactionInfo",
                    .string(try signed(try store.transaction(subscription.transactionID), by: issuer))),
                Claim("signedRenewalInfo", .string(try signed(subscription, by: issuer))),
            ])
            if let index = groups.firstIndex(where: { $0.id == subscription.groupID }) {
                groups[index].items.append(item)
            } else {
                groups.append((subscription.groupID, [item]))
            }
        }
        let data = groups.map { group in
            ClaimValue.object([
                Claim("subscriptionGroupIdentifier", .string(group.id)), Claim("lastTransactions", .array(group.items)),
            ])
        }
        return ServerAPIAnswer(scope.claims + [Claim("data", .array(data))])
    }

    /// The answer to `GET /inApps/v1/transactions/{id}`.
    mutating func transactionInfo(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
        let transaction = try transaction(request.path[0], scope)
        return ServerAPIAnswer([Claim("signedTransactionInfo", .string(try signed(transaction, by: issuer)))])
    }

    /// The answer to `GET /inApps/v1/transactions/appTransactions/{any}`.
    mutating func appTransaction(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
        let owner = try owner(request.path[0], scope)
        guard let receipt = store.state.receipts[owner] else {
            throw ServerAPIFailure(4_040_019, "The customer has no app transaction.")
        }
        let template = AppTransactionTemplate(
            receipt, app: scope.app, customer: try store.customer(receipt.customerID), signedDate: store.signingTime,
            isForDevice: false)
        return ServerAPIAnswer([
            Claim("signedAppTransactionInfo", .string(try issuer.signed(template, fault: takeFault(.appTransaction))))
        ])
    }

    /// The answer to `GET /inApps/v1/lookup/{orderId}`.
    mutating func order(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
        let orderID = request.path[0]
        guard (1...64).contains(orderID.utf8.count), orderID.utf8.allSatisfy({ $0 < 0x80 }),
            orderID.allSatisfy({ $0.isLetter || $0.isNumber })
        else { throw ServerAPIFailure.generalBadRequest }
        guard let transactionID = StoreTransaction.transactionID(ofOrder: orderID, in: scope.environment),
            let transaction = store.state.transactions[transactionID], transaction.orderID != nil,
            transaction.bundleID == scope.app.bundleID
        else { return ServerAPIAnswer([Claim("status", .integer(1))]) }
        return ServerAPIAnswer([
            Claim("status", .integer(0)),
            Claim("signedTransactions", .array([.string(try signed(transaction, by: issuer))])),
        ])
    }

    // MARK: Parts

    /// Signs a transaction in its present state, as for a server.
    mutating func signed(_ transaction: StoreTransaction, by issuer: EvidenceIssuer) throws -> String {
        try issuer.signed(try template(of: transaction), fault: takeFault(.signedTransaction))
    }

    /// Signs the renewal information of a subscription.
    mutating func signed(_ subscription: StoreSubscription, by issuer: EvidenceIssuer) throws -> String {
        let transaction = try store.transaction(subscription.transactionID)
        let template = RenewalInfoTemplate(
            subscription, transaction: try template(of: transaction), currency: transaction.currency,
            signedDate: store.signingTime, invitations: transaction.seats?.invitations)
        return try issuer.signed(template, fault: takeFault(.signedRenewalInfo))
    }

    private func template(of transaction: StoreTransaction) throws -> SignedTransactionTemplate {
        SignedTransactionTemplate(
            transaction, app: try store.app(transaction.bundleID), customer: try store.customer(transaction.customerID),
            product: try store.product(transaction.productID, of: transaction.bundleID), signedDate: store.signingTime,
            isForDevice: false)
    }

    /// The customer of an app who has a transaction, an original transaction or an app transaction.
    /// - Throws: 4000006, 4040010.
    func owner(_ id: String, _ scope: ServerAPIScope) throws(ServerAPIFailure) -> String {
        guard Self.isNumber(id) else { throw .invalidTransactionID }
        if let receipt = appReceipt(id, scope) { return StoreState.key(receipt.bundleID, receipt.customerID) }
        guard let transaction = store.state.transactions[id], transaction.bundleID == scope.app.bundleID,
            transaction.environment == scope.environment
        else { throw .unknownTransactionID }
        return transaction.owner
    }

    /// A transaction by its identifier.
    /// - Throws: 4000006, 4000048, 4040010.
    func transaction(_ id: String, _ scope: ServerAPIScope) throws(ServerAPIFailure) -> StoreTransaction {
        guard Self.isNumber(id) else { throw .invalidTransactionID }
        guard let transaction = store.state.transactions[id], transaction.bundleID == scope.app.bundleID,
            transaction.environment == scope.environment
        else { throw appReceipt(id, scope) == nil ? .unknownTransactionID : .appTransactionIDUnsupported }
        return transaction
    }

    /// The receipt of the customer with an app transaction.
    func appReceipt(_ appTransactionID: String, _ scope: ServerAPIScope) -> StoreReceipt? {
        store.state.receipts.rows(ofGroup: appTransactionID).first { receipt in
            receipt.bundleID == scope.app.bundleID
                && store.state.customers[receipt.customerID]?.environment == scope.environment
        }
    }

    /// Whether an identifier has the form of Apple's.
    static func isNumber(_ id: String) -> Bool {
        (1...20).contains(id.utf8.count)
            && id.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
