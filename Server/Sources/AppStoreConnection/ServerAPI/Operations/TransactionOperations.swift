// The operations on one transaction.

public import PurchaseVerification

/// The information about one transaction (Apple, "Get Transaction Info").
public struct GetTransaction: AppStoreServerOperation {
    /// A transaction id; that of the original is also its own.
    public var transactionID: String

    public init(_ transactionID: String) { self.transactionID = transactionID }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.get, ["inApps", "v1", "transactions", transactionID])
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> TransactionJWS {
        let transaction = try reply.transaction(try reply.decoded(SignedTransactionBody.self).signedTransactionInfo)
        guard transaction.content.transactionID == transactionID else {
            throw .otherAnswer(
                expected: "the transaction \(transactionID)", found: "\(transaction.content.transactionID)")
        }
        return transaction
    }
}

/// The customer's download of the app (Apple, "Get App Transaction Info").
public struct GetAppTransaction: AppStoreServerOperation {
    /// A transaction id, an original transaction id or an app transaction id.
    public var id: String

    public init(_ id: String) { self.id = id }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.get, ["inApps", "v1", "transactions", "appTransactions", id])
    }

    public func read(
        _ reply: AppStoreServerReply
    ) throws(AppStoreServerReplyFault) -> VerifiedJWS<SignedAppTransaction> {
        try reply.appTransaction(try reply.decoded(SignedAppTransactionBody.self).signedAppTransactionInfo)
    }
}

private struct SignedTransactionBody: Decodable {
    let signedTransactionInfo: String
}

private struct SignedAppTransactionBody: Decodable {
    let signedAppTransactionInfo: String
}
