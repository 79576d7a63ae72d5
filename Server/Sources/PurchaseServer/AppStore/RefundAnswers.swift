import AppStoreConnection
import Logging
import PurchaseLedger
import PurchaseVerification

/// Answers Apple's questions about the use of purchases for which customers ask a refund, within Apple's 12 hours.
///
/// The ledger decides what is said. An answer without a reply is sent again exactly as it was, so Apple never hears two
/// different ones.
struct RefundAnswers: Sendable {
    /// The last attempt begins at least this long before the deadline, in milliseconds.
    private static let reserve: Int64 = 120_000

    let access: AppStoreAccess
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    /// Answers one question, if there is something to say. Its work is leased.
    func answer(_ leased: LedgerWork) async throws {
        let terms = access.terms
        guard let work = try await terms.ledger.perform(DecideConsumptionAnswer(leased)) else { return }
        try await send(work, terms)
    }

    private func send(_ work: ConsumptionWork, _ terms: AppStoreTerms) async throws {
        guard let environment = ValidationEnvironment(work.environment),
            let app = terms.app(work.app, bundleID: work.bundleID)
        else {
            // Without a key for the bundle id, or in an environment without the API, nothing can be sent.
            _ = try await terms.ledger.perform(RecordConsumptionAnswer(work, refusal: "not_configured"))
            return
        }
        do throws(AppStoreServerError) {
            _ = try await access.server.call(
                UnsignedOperation(.sendConsumption, work.transactionID, json: ConsumptionInformation(work.answer)),
                for: app, in: environment)
        } catch {
            guard error.isFinal else {
                try await postpone(work, error, terms)
                return
            }
            logger.warning(
                "the App Store refused the answer to a refund request",
                metadata: ["number": "\(error.number?.rawValue ?? 0)"])
            _ = try await terms.ledger.perform(
                RecordConsumptionAnswer(work, refusal: error.code.rawValue, number: error.number?.rawValue))
            return
        }
        _ = try await terms.ledger.perform(RecordConsumptionAnswer(work))
    }

    /// Sends the same answer again later, and before the deadline.
    private func postpone(
        _ work: ConsumptionWork, _ error: AppStoreServerError, _ terms: AppStoreTerms
    ) async throws {
        var next = work.work
        next.attempts += 1
        logger.notice(
            "the App Store did not take the answer to a refund request; it is sent again",
            metadata: ["code": "\(error.code.rawValue)", "attempts": "\(next.attempts)"])
        let last = work.deadline.millisecondsSince1970 - Self.reserve
        let time = min(
            AppStoreTiming.next(after: next, error.retryAfter, at: clock()), Timestamp(millisecondsSince1970: last))
        try await terms.ledger.perform(NoteWork(next, next: max(time, clock().adding(milliseconds: 30_000, times: 1))))
    }
}

extension ConsumptionInformation {
    /// An answer in Apple's words. It exists only with the customer's consent.
    init(_ answer: ConsumptionAnswer) {
        self.init(
            customerConsented: true, sampleContentProvided: answer.providesSample,
            deliveryStatus: answer.isDelivered ? .delivered : .other, consumptionPercentage: answer.percentage,
            refundPreference: RefundPreference(answer.preference))
    }
}

extension RefundPreference {
    fileprivate init?(_ preference: PreferredRefund) {
        switch preference {
        case .none: return nil
        case .decline: self = .decline
        case .grantFull: self = .grantFull
        case .grantProrated: self = .grantProrated
        }
    }
}
