import EvidenceMint
import Foundation

extension ServiceState {
    /// The question that the store asks when a customer is about to cancel.
    /// - Throws: `unknown_subscription`, and `wrong_state` if the app has no realtime URL.
    mutating func retentionRequest(
        about originalTransactionID: String, locale: String, by issuer: EvidenceIssuer
    ) throws -> RetentionRequest {
        let subscription = try store.subscription(originalTransactionID)
        let environment = try store.customer(subscription.customerID).environment
        let scope = ServerAPIScope(app: try store.app(subscription.bundleID), environment: environment)
        guard let url = serverAPI.retention[scope.key]?.realtimeAddress else {
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
