import EvidenceMint
import Foundation

/// A question to the realtime URL of an app, before it is sent.
struct RetentionRequest: Sendable {
    let url: String
    let signedPayload: String
}

extension ServiceState {
    /// `PUT`, `GET` and `DELETE …/realtime/url` of the Retention Messaging API. Its images, messages and performance
    /// tests are not simulated.
    mutating func realtimeAnswer(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        if request.operation == .setRealtimeURL {
            let invalid = ServerAPIFailure(4_000_215, "The realtime URL is no address.")
            guard let url = try request.object().string("realtimeURL", or: invalid), url.utf8.count <= 256,
                NotificationSettings.isAddress(url)
            else { throw invalid }
            serverAPI.realtimeAddresses[scope.key] = url
            return ServerAPIAnswer(status: 200)
        }
        guard let url = serverAPI.realtimeAddresses[scope.key] else {
            throw ServerAPIFailure(4_040_021, "The app has no realtime URL.")
        }
        guard request.operation == .deleteRealtimeURL else {
            return ServerAPIAnswer([Claim("realtimeURL", .string(url))])
        }
        serverAPI.realtimeAddresses[scope.key] = nil
        return ServerAPIAnswer(status: 200)
    }

    /// The question that the store asks when a customer is about to cancel.
    /// - Throws: `unknown_subscription`, and `wrong_state` if the app has no realtime URL.
    mutating func retentionRequest(
        about originalTransactionID: String, locale: String, by issuer: EvidenceIssuer
    ) throws -> RetentionRequest {
        let subscription = try store.subscription(originalTransactionID)
        let environment = try store.customer(subscription.customerID).environment
        let scope = ServerAPIScope(app: try store.app(subscription.bundleID), environment: environment)
        guard let url = serverAPI.realtimeAddresses[scope.key] else {
            throw StoreError(
                .wrongState, "The app '\(scope.app.bundleID)' has no realtime URL in the \(environment.rawValue).")
        }
        var template = RealtimeRequestTemplate(
            originalTransactionID: originalTransactionID, productID: subscription.productID,
            environment: scope.environmentName, signedDate: store.signingTime)
        template.appAppleID = Int64(clamping: scope.app.appID)
        template.userLocale = locale
        template.requestIdentifier = UUID().uuidString.lowercased()
        return RetentionRequest(url: url, signedPayload: try issuer.signed(template, fault: takeFault(.notification)))
    }
}
