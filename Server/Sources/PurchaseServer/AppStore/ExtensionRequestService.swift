import AppStoreConnection
import Logging
import PurchaseLedger
import PurchaseVerification
import ServiceLifecycle

/// Asks Apple for the extensions of subscriptions that operators want: at once in their request, and later if Apple
/// could not be asked.
struct ExtensionRequestService: Service {
    /// The pause between two looks at the ledger without work.
    static let interval = Duration.seconds(15)
    /// The pauses between attempts, in milliseconds: doubled from the first to the last.
    private static let pauses: ClosedRange<Int64> = 30_000...3_600_000

    let access: AppStoreAccess
    let clock: @Sendable () -> Timestamp
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            do {
                while true {
                    if try await ask() == nil { try await Task.sleep(for: Self.interval) }
                }
            } catch {
                // The server stops.
            }
        }
    }

    /// Asks for the extension with an id or, without one, for the one that is due.
    ///
    /// - Returns: the extension afterwards; `nil` if none is due, or if another server asks for it.
    /// - Throws: only `CancellationError`.
    func ask(_ requestID: String? = nil) async throws -> ExtensionRecord? {
        let terms = access.terms
        guard !terms.names.isEmpty else { return nil }
        do {
            guard let work = try await terms.ledger.perform(NextExtension(apps: terms.names, requestID: requestID))
            else { return nil }
            return try await terms.ledger.perform(
                RecordExtensionAnswer(app: work.app, requestID: work.requestID, try await answer(work, terms)))
        } catch let error as CancellationError {
            throw error
        } catch {
            logger.warning("an extension was not asked for", metadata: ["error": "\(type(of: error))"])
            return nil
        }
    }

    private func answer(
        _ work: ExtensionRecord, _ terms: AppStoreAccess.Terms
    ) async throws -> RecordExtensionAnswer.Answer {
        guard let environment = ValidationEnvironment(work.environment),
            let app = terms.app(work.app, bundleID: work.bundleID)
        else { return .refused(number: nil) }
        do throws(AppStoreServerError) {
            let extended = try await access.server.call(
                ExtendRenewalDate(
                    work.originalTransactionID, days: Int(work.days),
                    reason: ExtensionReason(rawValue: work.extensionReason.number), requestIdentifier: work.requestID),
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
    private func outcome(of error: AppStoreServerError, _ work: ExtensionRecord) -> RecordExtensionAnswer.Answer {
        switch error.code {
        case .refused: return .refused(number: error.number?.rawValue)
        case .unauthorized, .rateLimited, .unavailable, .certificate, .circuitOpen, .busy, .notConfigured:
            let doubled = Self.pauses.lowerBound << min(Int64(work.attempts), 10)
            let pause = min(max(doubled, Int64(error.retryAfter / .milliseconds(1))), Self.pauses.upperBound)
            return .none(next: Timestamp(millisecondsSince1970: clock().millisecondsSince1970 + pause))
        case .unverified, .otherAnswer, .oldAnswer, .unreachable, .timeout, .httpStatus, .unreadable, .tooLarge,
            .cancelled:
            return .unknown
        }
    }
}
