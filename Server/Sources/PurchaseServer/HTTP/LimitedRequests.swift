import HTTPTypes
import Hummingbird
import PurchaseLedger
import PurchaseVerification
import Synchronization

/// The requests of the day (UTC) that a limit of this server refused with 429, by the code of the answer. `/readyz` has
/// the numbers, for `assay doctor`; each server counts its own.
final class LimitedRequests: RouterMiddleware, Sendable {
    private static let millisecondsOfDay: Int64 = 86_400_000

    private let clock: @Sendable () -> Timestamp
    private let state = Mutex<(day: Int64, counts: [String: Int])>((0, [:]))

    init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        if response.status == .tooManyRequests { count(response.headers[.assayReason] ?? "other") }
        return response
    }

    private func count(_ code: String) {
        let day = clock().millisecondsSince1970 / Self.millisecondsOfDay
        state.withLock { state in
            if state.day != day { state = (day, [:]) }
            state.counts[code, default: 0] += 1
        }
    }

    /// The number of today's requests by code; the codes are the server's own.
    var today: [String: Int] {
        let day = clock().millisecondsSince1970 / Self.millisecondsOfDay
        return state.withLock { $0.day == day ? $0.counts : [:] }
    }
}
