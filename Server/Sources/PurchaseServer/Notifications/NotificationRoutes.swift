import Crypto
import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `POST /notifications/v2` and `POST /notifications/v2/{app}`: notifications of the App Store, without a key, because
/// the signature is the proof. No limit of an address applies: it could stop Apple's news.
struct NotificationRoutes {
    /// The maximum size of a request, in bytes. 200 kB of fields that this version does not know fit into it wherever
    /// they are: base64 adds a third, twice in a nested part.
    static let bodyBytes = 384 << 10

    let ledger: TimedLedger
    let bodies: BodyReader
    let workers: WorkerPool
    let lanes: NotificationLanes
    let alarm: NotificationAlarm
    let traces: RecentTraces
    let metrics: ServerMetrics
    let clock: @Sendable () -> Timestamp

    func add(to router: Router<ServerContext>) {
        router.post("/notifications/v2") { request, context in try await receive(request, context, for: nil) }
        router.post("/notifications/v2/:app") { request, context in
            try await receive(request, context, for: try context.identifier("app"))
        }
    }

    private func receive(_ request: Request, _ context: ServerContext, for app: String?) async throws -> Response {
        let examined = try await bodies.withBody(of: request) { body in try await examine(body, context) }
        guard let owner = examined.observer, examined.isOfAppleID, app.map({ $0.isSame(as: owner) }) ?? true else {
            metrics.noteNotification(examined.notificationType, result: "refused", lag: nil)
            throw Problem.notificationOfNoApp(examined.bundleID)
        }
        let outcome = try await ledger.perform(ObserveEvidence(examined))
        if !outcome.isRepeated { alarm.noteGenuine() }
        traces.note(outcome.submissionID)
        let lag = examined.notificationSignedAt.map {
            Double(clock().millisecondsSince1970 - $0.millisecondsSince1970) / 1000
        }
        metrics.noteNotification(
            examined.notificationType, result: outcome.isRepeated ? "repeated" : "recorded",
            lag: outcome.isRepeated ? nil : lag)
        return try Response.json(
            NotificationAnswer(entryID: outcome.submissionID.text, repeated: outcome.isRepeated))
    }

    /// Reads and verifies a notification, in the lane of its certificates. Both is done in one piece of work, since
    /// changing the thread takes longer than reading.
    private func examine(_ body: [UInt8], _ context: ServerContext) async throws -> ExaminedEvidenceSubmission {
        let (payload, result) = try await workers.run { [ledger, lanes] in
            let read = NotificationRequest.read(body)
            if let flaw = read.flaw {
                throw read.message.isOfVersion1 ? Problem.notificationOfVersion1 : Problem(flaw)
            }
            let submission = EvidenceSubmission(notification: Array(read.message.signedPayload.utf8), in: body)
            let isKnown = ledger.isCertificateHeaderKnown(of: submission.evidence)
            guard isKnown || lanes.admitsUnknownHeader() else {
                throw Problem(
                    .serviceUnavailable, "server_busy",
                    "Too many notifications have certificates that were not seen before.",
                    retryAfter: Problem.notificationRetrySeconds)
            }
            let start = NotificationLanes.processorSeconds
            let result = Result { () throws(VerificationError) in try ledger.genuine(submission) }
            if !isKnown { lanes.use(NotificationLanes.processorSeconds - start) }
            return (submission.evidence, result)
        }
        let examined: ExaminedEvidenceSubmission
        do throws(VerificationError) {
            examined = try result.get()
        } catch {
            context.facts.note(rejectedVerifications: 1)
            if error.code.isOfUnknownIssuer {
                alarm.noteUnknownIssuer(error, root: { UnknownRoot.sha256(of: payload, in: ledger) }, context.logger)
            }
            throw Problem(notification: error)
        }
        guard examined.isNotification else {
            throw Problem(
                .badRequest, ReasonCode.evidenceUnrecognized.rawValue, "The signed data is not a notification.",
                expected: "a notification", found: examined.kind)
        }
        return examined
    }
}

extension Problem {
    /// The answer to a notification that does not verify.
    ///
    /// The App Store delivers a notification again after 503. So 503 answers everything that may be genuine: an unknown
    /// authority or algorithm, a header or a critical part that this version does not know, and claims of a new form.
    /// 400 answers what is malformed or provably forged.
    init(notification error: VerificationError) {
        let isFinal = error.code.refusesNotificationForGood
        self.init(
            isFinal ? .badRequest : .serviceUnavailable, error.code.rawValue, error.code.sentence,
            expected: error.expected, found: error.found, retryAfter: isFinal ? nil : Self.notificationRetrySeconds)
    }

    /// The seconds after which a refused notification may come again. The App Store keeps to a schedule of its own,
    /// which begins with an hour.
    static let notificationRetrySeconds = 3600

    /// A notification of version 1 came to the address for version 2.
    static let notificationOfVersion1 = Problem(
        .badRequest, "notification_version_1",
        """
        This is a notification of version 1, which nothing signs. In App Store Connect, below App Information, App Store \
        Server Notifications, choose version 2 for this URL.
        """, expected: "signedPayload", found: "notification_type")

    /// No app has the bundle id of a notification, or the path names another app.
    static func notificationOfNoApp(_ bundleID: String?) -> Problem {
        Problem(
            .notFound, "app_unknown", "No app of the settings accepts this notification.",
            expected: "the bundle id, Apple id and environment of an app of the settings", found: bundleID)
    }
}

/// The root certificate of a notification that the verifier does not trust. It is read for the operator, and proves
/// nothing.
enum UnknownRoot {
    /// The members of a notification that are signed separately.
    private static let parts = [
        ("data", "signedTransactionInfo"), ("data", "signedRenewalInfo"), ("appData", "signedAppTransactionInfo"),
    ]

    /// The SHA-256 of the last certificate in DER, in hexadecimal, as Apple publishes it for its root.
    ///
    /// - Parameter payload: the notification. If its own certificates were verified before, the unknown root is that of
    ///   a part.
    /// - Returns: `nil` if the certificates cannot be read.
    static func sha256(of payload: [UInt8], in ledger: TimedLedger) -> String? {
        let inspection = ledger.inspect(payload, app: "")
        guard ledger.isCertificateHeaderKnown(of: payload) else { return sha256(inspection) }
        let claims = inspection.content?.claims ?? [:]
        let signed = parts.lazy.compactMap { place, name -> [UInt8]? in
            guard case .object(let members) = claims[place], case .string(let text) = members[name] else { return nil }
            return Array(text.utf8)
        }
        return signed.first { !ledger.isCertificateHeaderKnown(of: $0) }
            .flatMap { sha256(ledger.inspect($0, app: "")) }
    }

    private static func sha256(_ inspection: EvidenceInspection) -> String? {
        inspection.certificates.last.map { Array(SHA256.hash(data: $0.der)).hexadecimal }
    }
}
