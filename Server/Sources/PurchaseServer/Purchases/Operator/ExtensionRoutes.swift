import Hummingbird
import Logging
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// Extensions of subscriptions by operators.
struct ExtensionRoutes {
    let api: PurchaseAPIContext
    /// Asks Apple.
    let service: ExtensionRequests

    func add(to group: RouterGroup<ServerContext>) {
        group.post("subscriptions/:id/extensions") { request, context in try await extend(request, context) }
        group.get("subscriptions/:id/extensions") { request, context in
            let app = try context.requireCaller(.backend).app
            let records = try await api.ledger.answer(
                ExtensionsOfSubscription(
                    app: app.id, originalTransactionID: try context.identifier("id"),
                    environment: try request.environment(of: app), limit: try request.limit()))
            return try Response.json(ExtensionList(extensions: records.map { ExtensionMessage($0) }))
        }
    }

    private func extend(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.admin).app
        let original = try context.identifier("id")
        return try await api.bodies.withBody(of: request) { body in
            let wanted = try await api.request(ExtensionRequest.self, from: body)
            let reason = try wanted.extensionReason.map { text in
                guard let reason = ExtensionReasonCode(rawValue: text) else {
                    throw Problem.parameter(
                        "extension_reason", ExtensionReasonCode.allCases.map(\.rawValue).joined(separator: ", "))
                }
                return reason
            }
            guard !service.access.terms.keys[app.id, default: []].isEmpty else { throw Problem.appStoreNotConfigured }
            let outcome = try await api.ledger.perform(
                RequestExtension(
                    app: app.id, originalTransactionID: original, environment: try wanted.environment?.known(to: app),
                    requestID: wanted.requestID, days: wanted.days, extensionReason: reason ?? .undeclared,
                    reason: wanted.reason))
            var record = outcome.record
            do {
                if let work = outcome.work, let asked = try await service.ask(work) { record = asked }
            } catch let error as CancellationError {
                throw error
            } catch {
                // The request is recorded, and Apple is asked later.
                service.logger.warning("an extension was not asked for", metadata: ["error": "\(error)"])
            }
            var message = ExtensionMessage(record)
            message.replayed = outcome.isReplayed
            return try Response.json(message, status: outcome.isReplayed ? .ok : .created)
        }
    }
}

extension ExtensionMessage {
    init(_ record: ExtensionRecord) {
        self.init(
            requestID: record.requestID, originalTransactionID: record.originalTransactionID,
            environment: EnvironmentName(record.environment), days: record.days,
            extensionReason: record.extensionReason.rawValue, requestedAt: "\(record.requestedAt)",
            state: record.state.rawValue)
        answeredAt = record.answeredAt.map { "\($0)" }
        effectiveDate = record.effectiveDate.map { "\($0)" }
        appStoreNumber = record.number
    }
}

extension Problem {
    /// The app has no key of the App Store Server API.
    static var appStoreNotConfigured: Problem {
        Problem(
            .conflict, "app_store_not_configured",
            "The app has no key of the App Store Server API in the settings; add app_store_keys.")
    }
}
