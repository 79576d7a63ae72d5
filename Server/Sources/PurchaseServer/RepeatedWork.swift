import ServiceLifecycle

/// Does work again and again while the server runs, and once more when it stops.
///
/// - Parameters:
///   - interval: the time between two times.
///   - work: handles its own errors.
func repeatUntilStop(every interval: Duration, _ work: @escaping @Sendable () async -> Void) async {
    await cancelWhenGracefulShutdown {
        do {
            while true {
                try await Task.sleep(for: interval)
                await work()
            }
        } catch {
            // The server stops.
        }
    }
    await work()
}
