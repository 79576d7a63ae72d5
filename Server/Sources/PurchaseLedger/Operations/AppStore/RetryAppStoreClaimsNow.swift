import PurchaseVerification

/// Makes all claims due that wait for a later attempt, because the App Store answers again.
public struct RetryAppStoreClaimsNow: LedgerOperation {
    public init() {}

    public var locks: LedgerLocks { .parts([.appStoreClaims]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        try AppStoreClaimsTable(connection: transaction.connection).makeDue(at: transaction.now)
    }
}
