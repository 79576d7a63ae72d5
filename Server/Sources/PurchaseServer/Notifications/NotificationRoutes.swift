import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `POST /notifications/v2` and `POST /notifications/v2/{app}`: notifications of the App Store, without a key, because
/// the signature is the proof. No limit of an address applies: it could stop Apple's news.
struct NotificationRoutes {
    /// The maximum size of a request, in bytes.
    static let bodyBytes = 256 << 10

    let ledger: TimedLedger
    let bodies: BodyReader
    let workers: WorkerPool
    let lanes: NotificationLanes
    let alarm: NotificationAlarm

    func add(to router: Router<ServerContext>) {
        router.post("/notifications/v2") { request, context in try await receive(request, context, for: nil) }
        router.post("/notifications/v2/:app") { request, context in
            try await receive(request, context, for: try context.identifier("app"))
        }
    }

    private func receive(_ request: Request, _ context: ServerContext, for app: String?) async throws -> Response {
        let submission = try await bodies.withBody(of: request) { body in
            let read = try await workers.run { NotificationRequest.read(body) }
            if let flaw = read.flaw { throw Problem(flaw) }
            return EvidenceSubmission(notification: Array(read.message.signedPayload.utf8), in: body)
        }
        let examined = try await examine(submission, context)
        guard let owner = examined.observer, examined.isOfAppleID, app.map({ $0.isSame(as: owner) }) ?? true else {
            throw Problem.notificationOfNoApp(examined.bundleID)
        }
        let outcome = try await ledger.perform(ObserveEvidence(examined))
        return try Response.json(
            NotificationAnswer(entryID: outcome.submissionID.text, repeated: outcome.isRepeated))
    }

    /// Verifies a notification, in the lane of its certificates.
    private func examine(
        _ submission: EvidenceSubmission, _ context: ServerContext
    ) async throws -> ExaminedEvidenceSubmission {
        let payload = submission.evidence
        let isKnown = ledger.isCertificateHeaderKnown(of: payload)
        guard isKnown || lanes.admitsUnknownHeader() else {
            throw Problem(
                .serviceUnavailable, "server_busy",
                "Too many notifications have certificates that were not seen before.",
                retryAfter: Problem.notificationRetrySeconds)
        }
        let (result, seconds) = try await workers.run { [ledger] in
            let start = ContinuousClock.now
            let result = Result { () throws(VerificationError) in try ledger.genuine(submission) }
            return (result, (ContinuousClock.now - start) / .seconds(1))
        }
        if !isKnown { lanes.use(seconds) }
        let examined: ExaminedEvidenceSubmission
        do throws(VerificationError) {
            examined = try result.get()
        } catch {
            context.facts.note(rejectedVerifications: 1)
            if error.code.isOfUnknownIssuer {
                alarm.noteUnknownIssuer(error, header: payload.prefix { $0 != UInt8(ascii: ".") }, context.logger)
            }
            throw Problem(notification: error)
        }
        guard examined.isNotification else {
            throw Problem(
                .badRequest, ReasonCode.evidenceUnrecognized.rawValue, "The signed data is not a notification.",
                expected: "a notification", found: examined.kind)
        }
        alarm.noteGenuine()
        return examined
    }
}
