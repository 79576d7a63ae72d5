import AppStoreConnection
import Foundation
import NIOHTTP1
import Synchronization
import Testing

@Suite("C.1 A clock that differs from Apple's")
struct ClockSkewTests {
    /// The time at Apple, and how far this machine's clock is ahead of it.
    private final class Clocks: Sendable {
        private let state = Mutex((apple: ServerAPIWorld.moment, ahead: 0.0))

        var apple: Date { state.withLock { $0.apple } }
        var own: Date { state.withLock { $0.apple.addingTimeInterval($0.ahead) } }

        func pass(_ seconds: TimeInterval) { state.withLock { $0.apple += seconds } }
        func differ(_ seconds: TimeInterval) { state.withLock { $0.ahead = seconds } }
    }

    /// Runs the body with a store that refuses tokens from the future by its own clock, as Apple does, and states it.
    private static func run(
        _ key: TestKey = TestKey(), _ skew: (@Sendable (Clocks) -> ClockSkew)? = nil,
        _ body: @escaping @Sendable (ServerAPIWorld, Clocks) async throws -> Void
    ) async throws {
        let clocks = Clocks()
        try await ServerAPIWorld.run(
            keys: [key], time: { clocks.own }, skew: skew?(clocks),
            answer: { request in
                let claims = try key.claims(of: request)
                let issued = try #require(claims["iat"] as? Double)
                let isRefused = issued > clocks.apple.timeIntervalSince1970
                var reply = RecordingServer.Reply.json(
                    isRefused ? "Unauthenticated" : answer, status: isRefused ? .unauthorized : .ok)
                reply.headers.add(name: "date", value: Self.header(clocks.apple))
                return reply
            }
        ) { try await body($0, clocks) }
    }

    private static let answer = #"{"testNotificationToken":"t"}"#

    /// RFC 9110, section 5.6.7.
    private static func header(_ date: Date) -> String {
        let form = DateFormatter()
        (form.locale, form.timeZone) = (Locale(identifier: "en_US_POSIX"), .gmt)
        form.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return form.string(from: date)
    }

    @Test("C.1 A clock up to a minute ahead is no reason for 401", arguments: [0, 2, 30, 60] as [TimeInterval])
    func ahead(_ seconds: TimeInterval) async throws {
        try await Self.run { world, clocks in
            clocks.differ(seconds)
            #expect(await world.code(of: RequestTestNotification()) == "answered")
            #expect(world.client.skew.seconds == seconds)
        }
    }

    @Test("C.1 After 401 the token is kept, and Apple accepts it as soon as its clock shows the token's time")
    func keptToken() async throws {
        try await Self.run { world, clocks in
            clocks.differ(65)
            do throws(AppStoreServerError) {
                _ = try await world.client.call(RequestTestNotification(), for: world.app, in: .production)
                Issue.record("it was answered")
            } catch {
                #expect(error.code == .unauthorized)
                #expect(
                    error.seen == "HTTP status 401; this machine's clock is 65 s ahead of the App Store's", "\(error)")
            }
            clocks.pass(5)
            #expect(await world.code(of: RequestTestNotification(), in: .production) == "answered")
            let tokens = world.server.requests.map { $0.head.headers.first(name: "authorization") }
            #expect(tokens.count == 2 && tokens[0] == tokens[1])
        }
    }

    @Test("C.1 A difference above ten seconds is said once, with the seconds, until it is small again")
    func sayings() async throws {
        let said = Mutex<[String]>([])
        try await Self.run(
            TestKey(), { clocks in ClockSkew(time: { clocks.own }) { words in said.withLock { $0.append(words) } } }
        ) { world, clocks in
            for seconds in [0, 10, -10, 30, 31, 9, 11, 2, -30, 0] as [TimeInterval] {
                clocks.differ(seconds)
                #expect(await world.code(of: RequestTestNotification()) == "answered")
                #expect(world.client.skew.seconds == seconds)
            }
        }
        #expect(
            said.withLock { $0 } == [
                "this machine's clock is 30 s ahead of the App Store's",
                "this machine's clock is 30 s behind the App Store's",
            ])
    }

    @Test("C.1 An answer that took long, or that states no time, is no difference")
    func slowAnswer() async throws {
        let seconds = Mutex<TimeInterval>(0)
        try await ServerAPIWorld.run(
            time: { ServerAPIWorld.moment.addingTimeInterval(seconds.withLock { $0 }) },
            answer: { request in
                var reply = RecordingServer.Reply.json(Self.answer)
                switch request.number {
                case 1: break
                case 2: reply.headers.add(name: "date", value: "Sat, 31 Jan 99999 12:00:00 GMT")
                default:
                    seconds.withLock { $0 = 40 }
                    reply.headers.add(name: "date", value: Self.header(ServerAPIWorld.moment.addingTimeInterval(20)))
                }
                return reply
            }
        ) { world in
            for expected in [nil, nil, 0] as [Double?] {
                #expect(await world.code(of: RequestTestNotification()) == "answered")
                #expect(world.client.skew.seconds == expected)
            }
        }
    }
}
