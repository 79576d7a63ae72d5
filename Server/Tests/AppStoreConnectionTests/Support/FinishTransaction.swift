import AppStoreConnection

/// The row `finishTransaction` under a short name: the call with the simplest answer.
struct FinishTransaction: AppStoreServerOperation {
    typealias Answer = Void

    let request: AppStoreServerRequest

    init(_ transactionID: String) { request = UnsignedOperation(.finishTransaction, transactionID).request }
}
