import AppStoreConnection
import Foundation
import NIOHTTP1
import Synchronization
import Testing

@Suite("Errors of the App Store Server API")
struct ServerAPIErrorTests {
    @Test(
        "The sandbox is asked if production does not know the identifier or the app, and for no other reason",
        arguments: [
            (4_040_010, 404, true), (4_040_005, 404, true), (4_000_006, 400, true), (0, 401, true),
            (4_040_001, 404, false), (4_000_187, 400, false), (4_040_002, 404, false), (5_000_000, 500, false),
            (4_290_000, 429, false), (4_999_999, 400, false),
        ])
    func switching(_ number: Int64, _ status: Int, _ isSwitched: Bool) async throws {
        try await ServerAPIWorld.run(answer: { _ in .error(number, status: .init(statusCode: status)) }) { world in
            _ = await world.code(of: GetTransaction("1"))
            #expect(world.lines.contains { $0.hasPrefix("GET /s") } == isSwitched)
        }
    }

    @Test(
        "Each answer has its code, and Apple's number is kept",
        arguments: [
            (404, 4_040_010, "app_store_refused 4040010", 1), (400, 4_123_456, "app_store_refused 4123456", 1),
            (404, 4_040_002, "app_store_unavailable 4040002", 4), (404, 4_040_004, "app_store_unavailable 4040004", 4),
            (404, 4_040_006, "app_store_unavailable 4040006", 4), (500, 5_000_001, "app_store_unavailable 5000001", 4),
            (500, 5_000_000, "app_store_unavailable 5000000", 4), (401, nil, "app_store_unauthorized", 1),
            (404, nil, "app_store_http_status", 1), (302, nil, "app_store_http_status", 1),
            (503, nil, "app_store_unavailable", 4), (429, 4_290_000, "app_store_rate_limited 4290000", 1),
            (200, nil, "app_store_unreadable", 4),
        ] as [(Int, Int64?, String, Int)])
    func codes(_ status: Int, _ number: Int64?, _ code: String, _ calls: Int) async throws {
        try await ServerAPIWorld.run(answer: { _ in
            let status = HTTPResponseStatus(statusCode: status)
            return number.map { .error($0, status: status) } ?? .json("<html>", status: status)
        }) { world in
            #expect(await world.code(of: GetTransaction("1"), in: .production) == code)
            #expect(world.lines.count == calls)
        }
    }

    @Test("Calls are spaced by Apple's limits, a tenth of them in the sandbox, for each operation alone")
    func limits() async throws {
        try await ServerAPIWorld.run(limitFactor: 1, answer: { _ in .json("{}") }) { world in
            let finish = FinishTransaction("1")
            for _ in 0..<3 { _ = try await world.client.call(finish, for: world.app) }
            _ = try await world.client.call(UnsignedOperation(.setAppAccountToken, "1", json: [""]), for: world.app)
            for _ in 0..<2 { _ = try await world.client.call(finish, for: world.app, in: .sandbox) }
            let production = Duration.seconds(1 / (50 * 0.95))
            #expect(world.clock.sleeps.count == 3)
            #expect(world.clock.sleeps.prefix(2).allSatisfy { $0 <= production && $0 > production * 0.9 })
            #expect(world.clock.sleeps[2] > production * 9)
            #expect(world.client.spacing(of: GetTransaction.self, in: .production) == production)
        }
    }

    @Test(
        "Retry-After is a time in milliseconds, and the pause is between a second and an hour",
        arguments: [
            ("1769860830000", 30), ("1769860800000", 1), ("1769860790000", 1), ("1869860800000", 3600), ("30", 1),
            ("soon", 60), ("99999999999999999999999", 60),
        ])
    func pauses(_ header: String, _ seconds: Int) async throws {
        try await ServerAPIWorld.run(answer: { _ in
            var reply = RecordingServer.Reply.error(4_290_000)
            reply.headers.add(name: "retry-after", value: header)
            return reply
        }) { world in
            for number in 0..<2 {
                do throws(AppStoreServerError) {
                    _ = try await world.client.call(GetTransaction("1"), for: world.app)
                    Issue.record("it was answered")
                } catch {
                    #expect(error.code == .rateLimited && error.retryAfter == .seconds(seconds), "\(number): \(error)")
                }
            }
            // The second call is not made.
            #expect(world.lines.count == 1)
            // Another operation has a limit of its own.
            _ = await world.code(of: GetAppTransaction("1"))
            #expect(world.lines.count == 2)
            world.clock.advance(.seconds(seconds))
            _ = await world.code(of: GetTransaction("1"))
            #expect(world.lines.count == 3)
        }
    }

    @Test("After five calls without an answer none is made, until a probe is answered; each environment has a circuit")
    func circuit() async throws {
        let isUp = Mutex(false)
        try await ServerAPIWorld.run(answer: { request in
            request.head.uri.hasPrefix("/s") || isUp.withLock { $0 }
                ? .error(4_040_010) : .json("", status: .badGateway)
        }) { world in
            for _ in 0..<3 { _ = await world.code(of: GetTransaction("1"), in: .production) }
            #expect(world.lines.count == 5)
            #expect(world.changes.all == ["Production opened"])
            #expect(await world.code(of: GetTransaction("1")) == "app_store_circuit_open")
            #expect(await world.code(of: GetTransaction("1"), in: .sandbox) == "app_store_refused 4040010")
            isUp.withLock { $0 = true }
            world.clock.advance(.seconds(20))
            #expect(await world.code(of: GetTransaction("1"), in: .production) == "app_store_refused 4040010")
            #expect(world.changes.all == ["Production opened", "Production closed"])
        }
    }
}
