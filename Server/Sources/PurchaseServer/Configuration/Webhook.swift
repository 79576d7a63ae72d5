import Foundation
public import PurchaseLedger
import PurchaseVerification

/// A receiver of an app's events, or of its notifications, as the settings describe it.
public struct Webhook: Sendable, Equatable {
    /// The app whose events it gets.
    public let app: String
    /// What it gets.
    public let stream: WebhookStream
    /// The address that they are sent to.
    public let url: WebhookURL
    /// The secrets that sign; two during a rotation. Notifications are forwarded as they are, so nothing signs them
    /// again.
    public let secrets: [WebhookSecret]
    /// The hosts for which `http` and addresses that are not public are allowed.
    public let allowedHosts: Set<String>
    /// Certificates in PEM that are trusted instead of the system's.
    public let trust: [UInt8]?

    /// The most secrets: the present one, and the one before or after it.
    public static let secretLimit = 2

    /// A receiver.
    public init(
        app: String, _ stream: WebhookStream = .events, url: WebhookURL, secrets: [WebhookSecret],
        allowedHosts: Set<String> = [], trust: [UInt8]? = nil
    ) {
        (self.app, self.stream, self.url, self.secrets) = (app, stream, url, secrets)
        (self.allowedHosts, self.trust) = (allowedHosts, trust)
    }

    /// Whether the operator allows `http`, and any address, for its host.
    var isHostAllowed: Bool { allowedHosts.contains(url.host) }

    /// The environment whose notifications are forwarded to it; `nil` if it gets events.
    var forwardedEnvironment: AppStoreEnvironment? {
        if case .notifications(let environment) = stream { environment } else { nil }
    }
}
