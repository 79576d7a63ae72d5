import EvidenceMint
import Foundation

extension ServiceState {
    /// The answer to `GET /inApps/v1/subscriptions/{any}`.
    mutating func statuses(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
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
                "status": .integer(Int64(subscription.status.number)),
                "originalTransactionId": .string(subscription.originalTransactionID),
                "signedTransactionInfo": try signed(store.transaction(subscription.transactionID), scope),
                "signedRenewalInfo": try signed(subscription, scope),
            ])
            if let index = groups.firstIndex(where: { $0.id == subscription.groupID }) {
                groups[index].items.append(item)
            } else {
                groups.append((subscription.groupID, [item]))
            }
        }
        let data = groups.map { group in
            ClaimValue.object([
                "subscriptionGroupIdentifier": .string(group.id), "lastTransactions": .array(group.items),
            ])
        }
        return ServerAPIAnswer(scope.claims + [Claim("data", .array(data))])
    }

    /// The answer to `GET /inApps/v1/transactions/{id}`.
    mutating func transactionInfo(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let transaction = try transaction(request.path[0], scope)
        return ServerAPIAnswer(["signedTransactionInfo": try signed(transaction, scope)])
    }

    /// The answer to `GET /inApps/v1/transactions/appTransactions/{any}`.
    mutating func appTransaction(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let owner = try owner(request.path[0], scope)
        guard let receipt = store.state.receipts[owner] else {
            throw ServerAPIFailure(4_040_019, "The customer has no app transaction.")
        }
        let template = AppTransactionTemplate(
            receipt, app: scope.app, customer: try store.customer(receipt.customerID), signedDate: store.signingTime,
            isForDevice: false)
        return ServerAPIAnswer([
            "signedAppTransactionInfo": .string(try scope.issuer.signed(template, fault: takeFault(.appTransaction)))
        ])
    }

    /// The answer to `GET /inApps/v1/lookup/{orderId}`.
    mutating func order(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let orderID = request.path[0]
        guard (1...64).contains(orderID.utf8.count), orderID.utf8.allSatisfy({ $0 < 0x80 }),
            orderID.allSatisfy({ $0.isLetter || $0.isNumber })
        else { throw ServerAPIFailure.generalBadRequest }
        guard let transactionID = StoreTransaction.transactionID(ofOrder: orderID, in: scope.environment),
            let transaction = store.state.transactions[transactionID], transaction.orderID != nil,
            transaction.bundleID == scope.app.bundleID
        else { return ServerAPIAnswer(["status": .integer(1)]) }
        return ServerAPIAnswer(["status": .integer(0), "signedTransactions": try signed([transaction], scope)])
    }

    // MARK: Parts

    /// Signs a transaction in its present state, as for a server.
    mutating func signed(_ transaction: StoreTransaction, _ scope: ServerAPIScope) throws -> ClaimValue {
        let template = try SignedTransactionTemplate(transaction, in: store, isForDevice: false)
        return .string(try scope.issuer.signed(template, fault: takeFault(.signedTransaction)))
    }

    mutating func signed(_ transactions: [StoreTransaction], _ scope: ServerAPIScope) throws -> ClaimValue {
        .array(try transactions.map { try signed($0, scope) })
    }

    /// Signs the renewal information of a subscription.
    mutating func signed(_ subscription: StoreSubscription, _ scope: ServerAPIScope) throws -> ClaimValue {
        let template = try RenewalInfoTemplate(subscription, in: store, isForDevice: false)
        return .string(try scope.issuer.signed(template, fault: takeFault(.signedRenewalInfo)))
    }

    /// The customer of an app who has a transaction, an original transaction or an app transaction.
    /// - Throws: 4000006, 4040010.
    func owner(_ id: String, _ scope: ServerAPIScope) throws(ServerAPIFailure) -> String {
        guard Self.isNumber(id) else { throw .invalidTransactionID }
        if let receipt = appReceipt(id, scope) { return StoreState.key(receipt.bundleID, receipt.customerID) }
        guard let transaction = found(id, scope) else { throw .unknownTransactionID }
        return transaction.owner
    }

    /// A transaction by its identifier.
    /// - Throws: 4000006, 4000048, 4040010.
    func transaction(_ id: String, _ scope: ServerAPIScope) throws(ServerAPIFailure) -> StoreTransaction {
        guard Self.isNumber(id) else { throw .invalidTransactionID }
        guard let transaction = found(id, scope) else {
            throw appReceipt(id, scope) == nil ? .unknownTransactionID : .appTransactionIDUnsupported
        }
        return transaction
    }

    /// The transaction of an app in an environment, if there is one.
    func found(_ id: String, _ scope: ServerAPIScope) -> StoreTransaction? {
        store.state.transactions[id].flatMap {
            $0.bundleID == scope.app.bundleID && $0.environment == scope.environment ? $0 : nil
        }
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
            && id.utf8.allSatisfy { $0.isDigit }
    }
}
