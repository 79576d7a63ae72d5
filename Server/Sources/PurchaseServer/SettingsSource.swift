/// The settings of a running server, and the requests to read them again.
public struct SettingsSource: Sendable {
    let read: @Sendable () throws -> ServerConfiguration
    let requests: @Sendable (_ reload: @Sendable () async -> Void) async -> Void

    /// - Parameters:
    ///   - read: reads the settings as the start did, and throws `SettingsRefusal` if they have errors.
    ///   - requests: calls its argument for each request, until the task is cancelled.
    public init(
        read: @escaping @Sendable () throws -> ServerConfiguration,
        requests: @escaping @Sendable (_ reload: @Sendable () async -> Void) async -> Void
    ) {
        (self.read, self.requests) = (read, requests)
    }
}
