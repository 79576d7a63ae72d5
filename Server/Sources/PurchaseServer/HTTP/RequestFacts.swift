import Synchronization

/// The facts about a request that are found while it is answered, for its line in the log.
final class RequestFacts: Sendable {
    private let state = Mutex(Values())

    struct Values {
        /// The name of the app in the settings.
        var app: String?
        /// The id of the key, which is no secret.
        var key: String?
        /// The status in the body of an answer of `verifyReceipt`.
        var receiptStatus: Int?
    }

    var values: Values { state.withLock { $0 } }

    func note(app: String, key: String) {
        state.withLock { ($0.app, $0.key) = (app, key) }
    }

    func note(receiptStatus: Int) {
        state.withLock { $0.receiptStatus = receiptStatus }
    }
}
