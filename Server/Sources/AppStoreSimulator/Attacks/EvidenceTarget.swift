import Synchronization

/// The server that the store sends evidence to, and notifications if it takes them. It can be named after the store has
/// started, because the two may need each other's address.
public final class EvidenceTarget: Sendable {
    private let named = Mutex<EvidenceDelivery?>(nil)
    /// The server's console for people, to which the page links.
    private let namedConsole = Mutex<String?>(nil)
    /// Whether the server gets notifications. Until it is named, none are sent.
    let takesNotifications: Bool
    /// In place of an address that is not known yet: notifications are scheduled from the start, and none is sent to
    /// it.
    static let unknownNotificationURL = "http://localhost/notifications/v2"
    /// The addresses for notifications, when they become known.
    let notificationURLs: AsyncStream<String>
    private let notificationURL: AsyncStream<String>.Continuation

    /// - Parameter takesNotifications: whether notifications are sent to the server's `/notifications/v2`.
    public init(takesNotifications: Bool = false) {
        self.takesNotifications = takesNotifications
        (notificationURLs, notificationURL) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Names the server.
    ///
    /// - Parameters:
    ///   - address: `http://HOST:PORT`.
    ///   - key: for its `/v1/purchases`.
    ///   - keys: for apps that have their own key, by bundle id.
    ///   - readingKeys: for what the server says of a customer, by bundle id, if that needs another key.
    /// - Throws: `SimulatorConfigurationError`.
    public func set(
        _ address: String, key: String?, keys: [String: String] = [:], readingKeys: [String: String] = [:]
    ) throws(SimulatorConfigurationError) {
        let delivery = try EvidenceDelivery(address, key: key, keys: keys, readingKeys: readingKeys)
        named.withLock { $0 = delivery }
        if takesNotifications { notificationURL.yield("\(address)/notifications/v2") }
    }

    /// Names the address of the server's console.
    public func setConsole(_ address: String) { namedConsole.withLock { $0 = address } }

    var console: String? { namedConsole.withLock { $0 } }

    var delivery: EvidenceDelivery? { named.withLock { $0 } }

    var address: String? { delivery?.address }
}
