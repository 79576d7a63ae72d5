import AppStoreSimulator
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ServerTestSupport
import Synchronization
import Testing

@Suite("The attacks bound the answers of a server")
struct AttackLimitTests {
    /// Accepts genuine evidence, and answers the third request differently.
    private static func server(_ third: @escaping @Sendable () -> Response) -> some ApplicationProtocol {
        let count = Mutex(0)
        let router = Router()
        router.post("/verifyReceipt") { request, _ in
            _ = try await request.body.collect(upTo: 32 << 20)
            let number = count.withLock { count in
                count += 1
                return count
            }
            return number == 3
                ? third() : Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: #"{"status":0}"#)))
        }
        return Application(
            router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func results(of run: AttackRun) async throws -> [AttackResult] {
        var results: [AttackResult] = []
        _ = try await run.attack(.verifyReceipt) { results.append($0) }
        return results
    }

    private func run(_ port: Int, timeLimit: Duration = .seconds(600)) throws -> AttackRun {
        try AttackRun(
            against: "http://127.0.0.1:\(port)", authority: try StoreWorld.authority(), bundleID: StoreWorld.app,
            timeLimit: timeLimit)
    }

    @Test("An endless answer counts as wrong, and the attacks continue")
    func endlessAnswer() async throws {
        let endless = Self.server {
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    let zeros = ByteBuffer(bytes: [UInt8](repeating: 0x20, count: 1 << 16))
                    while true { try await writer.write(zeros) }
                })
        }
        try await endless.live { client in
            let results = try await results(of: try run(client.port))
            #expect(results[2].answered == "the answer is larger than 1048576 bytes")
            #expect(!results[2].isRight)
            #expect(results.count > 50)
        }
    }

    @Test("An answer of the maximum size is read")
    func largestAnswer() async throws {
        let large = Self.server {
            let json = #"{"status":21003}"# + String(repeating: " ", count: (1 << 20) - 16)
            return Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: json)))
        }
        try await large.live { client in
            let results = try await results(of: try run(client.port))
            #expect(results[2].answered == "21003")
            #expect(results[2].isRight)
        }
    }

    @Test("A slow endless answer is abandoned at the time limit")
    func slowAnswer() async throws {
        let router = Router()
        router.post("/verifyReceipt") { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    // Until the other side closes the connection.
                    while true {
                        try await writer.write(ByteBuffer(string: " "))
                        try await Task.sleep(for: .milliseconds(50))
                    }
                })
        }
        let slow = Application(router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await slow.live { client in
            let run = try run(client.port, timeLimit: .seconds(1))
            await #expect(
                throws: AttackError.genuineRefused(
                    evidence: "app receipt", answer: "there was no whole answer within 1 s")
            ) { try await run.attack(.verifyReceipt) { _ in } }
        }
    }
}
