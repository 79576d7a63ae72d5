import AppStoreConnection
import Foundation
import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// `POST /retention/realtime` and `POST /retention/realtime/{app}`: Apple asks what to show to a customer who is about
/// to cancel a subscription. It needs no key, because the signature is the proof, and an answer within 700 ms.
struct RetentionRoutes {
    /// The maximum size of a request, in bytes.
    static let bodyBytes = 64 << 10
    /// How long an offer may take until the message for other customers is shown. The rest of Apple's 700 ms is for the
    /// network.
    static let offerTime = Duration.milliseconds(350)
    /// How old a request may be, in milliseconds: what was recorded on its way is worth nothing soon.
    static let age: Int64 = 300_000

    let ledger: TimedLedger
    let access: AppStoreAccess
    let rules: [String: RetentionRules]
    let apps: [String: RegisteredApp]
    let bodies: BodyReader
    let workers: WorkerPool
    let lanes: NotificationLanes
    let offerTime: Duration
    let clock: @Sendable () -> Timestamp

    func add(to router: Router<ServerContext>) {
        router.post("/retention/realtime") { request, context in try await answer(request, context, for: nil) }
        router.post("/retention/realtime/:app") { request, context in
            try await answer(request, context, for: try context.identifier("app"))
        }
    }

    private func answer(_ request: Request, _ context: ServerContext, for name: String?) async throws -> Response {
        let start = ContinuousClock.now
        let payload = try await bodies.withBody(of: request) { body in
            let read = try await workers.run { NotificationRequest.read(body) }
            if let flaw = read.flaw { throw Problem(flaw) }
            return Array(read.message.signedPayload.utf8)
        }
        let content = try await examine(payload, context)
        guard let app = app(of: content, named: name) else {
            throw Problem(
                .notFound, "retention_of_no_app", "The request is for no app of the settings; set its apple_id.",
                expected: "the apple_id of an app", found: content.appAppleID.map { "\($0)" })
        }
        let now = clock().millisecondsSince1970
        guard let signed = content.signedDate?.millisecondsSince1970, abs(now - signed) <= Self.age else {
            throw Problem(
                .badRequest, "retention_request_old", "The request was signed long before it arrived.",
                expected: "a request of the last \(Self.age / 60_000) minutes")
        }
        guard let rule = rules[app.id]?.rule(productID: content.productID, locale: content.userLocale) else {
            throw Problem(
                .notFound, "retention_rule_missing",
                "No rule of the app's retention fits, so Apple shows its default message.", found: content.productID)
        }
        return try Response.json(try await self.answer(to: content, of: app, by: rule, since: start))
    }

    /// Verifies a request, in the lane of its certificates.
    private func examine(_ payload: [UInt8], _ context: ServerContext) async throws -> RealtimeRequest {
        let isKnown = ledger.isCertificateHeaderKnown(of: payload)
        guard isKnown || lanes.admitsUnknownHeader() else {
            throw Problem(
                .serviceUnavailable, "server_busy", "Too many requests have certificates that were not seen before.",
                retryAfter: 1)
        }
        let (result, seconds) = try await workers.run { [ledger] in
            let start = NotificationLanes.processorSeconds
            let result = Result { () throws(VerificationError) in try ledger.ledger.verifiedRealtimeRequest(payload) }
            return (result, NotificationLanes.processorSeconds - start)
        }
        if !isKnown { lanes.use(seconds) }
        do throws(VerificationError) {
            return try result.get()
        } catch {
            context.facts.note(rejectedVerifications: 1)
            throw Problem(
                .badRequest, error.code.rawValue, error.code.sentence, expected: error.expected, found: error.found)
        }
    }

    /// The app that a request names by its number, and accepts the environment of. In the sandbox, an app without a
    /// number in the settings is named by the path.
    private func app(of content: RealtimeRequest, named name: String?) -> RegisteredApp? {
        let environment = AppStoreEnvironment(content.statedEnvironment ?? AppStoreEnvironment.production.name)
        let candidates = name.map { name in apps.values.filter { $0.id.isSame(as: name) } } ?? Array(apps.values)
        return candidates.first { app in
            guard app.environments.contains(environment) else { return false }
            if let id = app.appleID { return content.appAppleID == id }
            return name != nil && environment != .production
        }
    }

    // MARK: The answer

    private func answer(
        to content: RealtimeRequest, of app: RegisteredApp, by rule: RetentionRule, since start: ContinuousClock.Instant
    ) async throws -> RealtimeAnswer {
        switch rule.answer {
        case .message(let id): return RealtimeAnswer(message: Self.message(id))
        case .alternateProduct(let id, let productID, let plan):
            return RealtimeAnswer(
                alternateProduct: RealtimeAlternateProduct(
                    messageIdentifier: id.text, productId: productID, billingPlanType: plan?.name))
        case .advancedCommerce(let id, let data):
            return RealtimeAnswer(
                advancedCommerceInfo: RealtimeAdvancedCommerce(messageIdentifier: id.text, advancedCommerceData: data))
        case .promotionalOffer(let id, let productID, let offerID, let otherwise):
            let offer = Task {
                try await signed(offerID, productID ?? content.productID ?? "", for: content, of: app)
            }
            guard let jws = await Self.value(of: offer, until: start + offerTime) else {
                return RealtimeAnswer(message: Self.message(otherwise))
            }
            return RealtimeAnswer(
                promotionalOffer: RealtimePromotionalOffer(
                    messageIdentifier: id.text, promotionalOfferSignatureV2: jws))
        }
    }

    private static func message(_ id: UUID) -> RealtimeMessage { RealtimeMessage(messageIdentifier: id.text) }

    /// A promotional offer for the owner of the subscription, recorded like any other.
    ///
    /// - Throws: `LedgerRefusal` if they may not have it.
    private func signed(
        _ offerID: String, _ productID: String, for content: RealtimeRequest, of app: RegisteredApp
    ) async throws -> String? {
        guard let original = content.originalTransactionID, ExactText(original).isIdentifier else { return nil }
        let environment = AppStoreEnvironment(content.statedEnvironment ?? AppStoreEnvironment.production.name)
        let bundleID = try await ledger.answer(BundleOfOriginal(original, in: environment))
        guard let signer = access.terms.signer(app.id, bundleID: bundleID ?? app.bundleIDs.sorted().first),
            let newest = try await ledger.answer(
                OwnerOfSubscription(app: app.id, originalTransactionID: original, environment: environment))
        else { return nil }
        let signed = try await ledger.perform(
            SignOffer(
                app: app.id, customerID: newest.customerID, kind: .promotional, offerID: offerID,
                productID: productID, transactionID: newest.transactionID))
        return try signer.promotionalOffer(
            productID: productID, offerID: offerID, transactionID: newest.transactionID, nonce: signed.nonce,
            at: signed.signedAt.date)
    }

    /// The value of a task; `nil` if it fails, or takes longer.
    private static func value(
        of task: Task<String?, any Error>, until end: ContinuousClock.Instant
    ) async -> String? {
        let (first, continuation) = AsyncStream<String?>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let watch = Task {
            // A refusal by the rules, or a database that cannot be used: the other message is shown.
            continuation.yield((try? await task.value) ?? nil)
            continuation.finish()
        }
        let timer = Task {
            do {
                try await Task.sleep(until: end, clock: .continuous)
                continuation.yield(nil)
            } catch {
                // The offer came first.
            }
            continuation.finish()
        }
        defer {
            watch.cancel()
            timer.cancel()
        }
        for await value in first { return value }
        return nil
    }
}
