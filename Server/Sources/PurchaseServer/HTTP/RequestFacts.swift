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
        /// The number of pieces of evidence that did not verify. They are not logged; they cost the address more of its
        /// rate.
        var rejectedVerifications = 0
        /// Whether evidence in the request was read.
        var isEvidenceRead = false
        /// Whether the request failed because the database is away, which has a line of its own.
        var isOutage = false
    }

    var values: Values { state.withLock { $0 } }

    func note(app: String, key: String) {
        state.withLock { ($0.app, $0.key) = (app, key) }
    }

    func note(rejectedVerifications: Int) {
        state.withLock { $0.rejectedVerifications += rejectedVerifications }
    }

    func noteEvidence() {
        state.withLock { $0.isEvidenceRead = true }
    }

    func noteOutage() {
        state.withLock { $0.isOutage = true }
    }

    func note(receiptStatus: Int) {
        state.withLock { $0.receiptStatus = receiptStatus }
    }
}
