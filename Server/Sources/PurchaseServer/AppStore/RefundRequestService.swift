import AppStoreConnection
import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle

/// Answers Apple's questions about the use of purchases for which customers ask a refund, within Apple's 12 hours.
///
/// The ledger decides what is said. An answer without a reply is sent again exactly as it was, so Apple never hears two
/// different ones.
struct RefundRequestService: Service {
    /// The pause between two looks at the ledger without work.
    static let interval = Duration.seconds(2)
    /// The pauses between attempts, in milliseconds: doubled from the first to the last.
    private static let pauses: ClosedRange<Int64> = 30_000...1_800_000
    /// The last attempt begins at least this long before the deadline, in milliseconds.
    private static let reserve: Int64 = 120_000

    let access: AppStoreAccess
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            do {
                while true {
                    if try await !answerNext() { try await Task.sleep(for: Self.interval) }
                }
            } catch {
                // The server stops.
            }
        }
    }

    /// Answers one question.
    ///
    /// - Returns: whether there was one.
    /// - Throws: only `CancellationError`.
    func answerNext() async throws -> Bool {
        let terms = access.terms
        guard !terms.names.isEmpty else { return false }
        do {
            guard try await terms.ledger.answer(DueConsumptionRequests(apps: terms.names)) else { return false }
            switch try await terms.ledger.perform(NextConsumptionAnswer(apps: terms.names)) {
            case .none: return false
            case .settled: return true
            case .send(let work):
                try await send(work, terms)
                return true
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            logger.warning("a refund request was not answered", metadata: ["error": "\(type(of: error))"])
            return false
        }
    }

    private func send(_ work: ConsumptionWork, _ terms: AppStoreAccess.Terms) async throws {
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
                logger.notice(
                    "the App Store did not take the answer to a refund request; it is sent again",
                    metadata: ["code": "\(error.code.rawValue)", "attempts": "\(work.attempts + 1)"])
                try await terms.ledger.perform(PostponeConsumptionAnswer(work, to: next(after: error, work)))
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

    /// The time of the next attempt: later each time, and before the deadline.
    private func next(after error: AppStoreServerError, _ work: ConsumptionWork) -> Timestamp {
        let now = clock().millisecondsSince1970
        let doubled = Self.pauses.lowerBound << min(Int64(work.attempts), 10)
        let asked = Int64(error.retryAfter / .milliseconds(1))
        let pause = max(min(doubled, Self.pauses.upperBound), min(asked, Self.pauses.upperBound))
        let last = work.deadline.millisecondsSince1970 - Self.reserve
        return Timestamp(millisecondsSince1970: max(now + Self.pauses.lowerBound, min(now + pause, last)))
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
