import PurchaseLedger

/// A key, and the app that it belongs to.
struct Caller: Sendable {
    let key: APIKey
    let app: RegisteredApp
    /// Takes further tokens of the rate of the key, and of the address's share of it, for a request that does the work
    /// of several; 429 if one of them owes tokens already.
    let charge: @Sendable (_ tokens: Int) throws(Problem) -> Void
}
