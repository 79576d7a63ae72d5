import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import PurchaseKit
import ServerTestSupport
import Testing

@Suite("The purchase service over HTTP")
struct HTTPPurchaseServiceTests {
    @Test("A request whose task is cancelled ends, whether it was sent or not", .timeLimit(.minutes(10)))
    func cancellation() async throws {
        try await withSilentServer { port in
            let service = HTTPPurchaseService(
                server: try #require(URL(string: "http://127.0.0.1:\(port)")), timeout: 600)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        let task = Task { try await service.send(request) }
                        // Some are cancelled before they begin, some while they connect, and some while they wait for
                        // the answer.
                        if number % 4 != 0 { try await Task.sleep(for: .milliseconds(number * 10)) }
                        task.cancel()
                        await #expect(throws: PurchaseError.self) { try await task.value }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A request without an answer ends at its time limit", .timeLimit(.minutes(10)))
    func timeOut() async throws {
        try await withSilentServer { port in
            let service = HTTPPurchaseService(server: try #require(URL(string: "http://127.0.0.1:\(port)")), timeout: 1)
            let error = await #expect(throws: PurchaseError.self) { try await service.send(request) }
            #expect(error?.code == .connectionFailed)
        }
    }

    @Test("Concurrent requests each get an answer", .timeLimit(.minutes(10)))
    func answers() async throws {
        try await KitWorld.run { world in
            let server = try #require(URL(string: "http://127.0.0.1:\(world.server.port)"))
            let service = HTTPPurchaseService(server: server)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        // Without a key the server refuses it, in an answer to this request.
                        let answer = try await service.send(request)
                        #expect(answer.status == 401)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private let request = ServiceRequest(
        path: "/v1/purchases", headers: ["content-type": "application/json"], body: Array("{}".utf8))

    /// Runs the body beside a server that accepts connections and never answers.
    private func withSilentServer(_ body: (Int) async throws -> Void) async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(try #require(listener.localAddress?.port))
        } catch {
            try await listener.close()
            throw error
        }
        try await listener.close()
    }
}
