import AppStoreConnection
import Logging
import PurchaseLedger
import PurchaseVerification

/// Asks Apple for the extensions of subscriptions that operators want: at once in their request, and later if Apple
/// could not be asked.
struct ExtensionRequests: Sendable {
    let access: AppStoreAccess
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    /// Asks Apple for an extension. Its work is leased.
    ///
    /// - Returns: the extension afterwards; `nil` if it has an answer.
    func ask(_ work: LedgerWork) async throws -> ExtensionRecord? {
        let terms = access.terms
        guard let wanted = try await terms.ledger.answer(OpenExtension(work)) else {
            try await terms.ledger.perform(NoteWork(work, next: nil))
            return nil
        }
        return try await terms.ledger.perform(
            RecordExtensionAnswer(app: wanted.app, requestID: wanted.requestID, try await answer(wanted, work, terms)))
    }

    private func answer(
        _ wanted: ExtensionRecord, _ work: LedgerWork, _ terms: AppStoreTerms
    ) async throws -> RecordExtensionAnswer.Answer {
        guard let environment = ValidationEnvironment(wanted.environment),
            let app = terms.app(wanted.app, bundleID: wanted.bundleID)
        else { return .refused(number: nil) }
        do throws(AppStoreServerError) {
            let extended = try await access.server.call(
                ExtendRenewalDate(
                    wanted.originalTransactionID, days: Int(wanted.days),
                    reason: ExtensionReason(rawValue: wanted.extensionReason.number),
                    requestIdentifier: wanted.requestID),
                for: app, in: environment
            ).value
            guard extended.success ?? true else { return .refused(number: nil) }
            return .extended(until: extended.effectiveDate.map { Timestamp(millisecondsSince1970: $0) })
        } catch {
            logger.notice(
                "the App Store gave no extension",
                metadata: ["code": "\(error.code.rawValue)", "environment": "\(environment.rawValue)"])
            return outcome(of: error, work)
        }
    }

    /// A call after which Apple may have extended the subscription is not repeated: a customer gets two extensions a
    /// year at most.
    private func outcome(of error: AppStoreServerError, _ work: LedgerWork) -> RecordExtensionAnswer.Answer {
        switch error.code {
        case .refused: return .refused(number: error.number?.rawValue)
        case .unauthorized, .rateLimited, .unavailable, .certificate, .circuitOpen, .busy, .notConfigured:
            var next = work
            next.attempts += 1
            return .none(next: AppStoreTiming.next(after: next, error.retryAfter, at: clock()))
        case .unverified, .otherAnswer, .oldAnswer, .unreachable, .timeout, .httpStatus, .unreadable, .tooLarge,
            .cancelled:
            return .unknown
        }
    }
}
