import Foundation
import HTTPTypes
import Logging
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// Clients that send requests and do not read the answers.
@Suite("Answers that nobody reads")
struct UnreadAnswerTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private static let request = "GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n"
    /// 13 kB of requests for 31 MB of answers, more than the buffers of both sockets hold.
    private static let count = 300

    private static func answers(_ log: RecordingLog) -> Int { log.requests.count }

    @Test("B.2 A client that pipelines requests and does not read gets one answer at a time, and all when it reads")
    func pipelined() async throws {
        let log = RecordingLog()
        try await PurchaseServerWorld.run(logger: log.logger(.debug)) { world async throws in
            try await RawConnection.open(port: world.client.port) { connection async throws in
                let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                try await connection.send(String(repeating: Self.request, count: Self.count) + last)
                try await Task.sleep(for: .seconds(1))
                // The system's buffers of the two sockets hold some megabytes.
                #expect(Self.answers(log) < Self.count / 2, "\(Self.answers(log)) answers wait")
                let answers = try await connection.readToEnd()
                #expect(answers.components(separatedBy: "HTTP/1.1 200 OK").count == Self.count + 2)
                #expect(answers.hasSuffix(#"{"status":"ok"}"#))
            }
        }
    }

    @Test(
        "B.2 A connection whose client takes nothing of its answer is closed after the time limit, and others are not")
    func closed() async throws {
        let log = RecordingLog()
        try await PurchaseServerWorld.run(logger: log.logger(.debug)) {
            $0.limits.requestSeconds = 1
        } _: { world async throws in
            try await RawConnection.open(port: world.client.port) { connection async throws in
                try await connection.send(String(repeating: Self.request, count: Self.count))
                try await Task.sleep(for: .seconds(3))
                #expect(try await world.send(.get, "/healthz", as: nil).status == 200)
                let answers = try await connection.readToEnd()
                #expect(answers.components(separatedBy: "HTTP/1.1 200 OK").count < Self.count)
                #expect(Self.answers(log) < Self.count)
            }
        }
    }

    @Test("B.2 A client that reads slowly, but reads, keeps its connection", .server { $0.limits.requestSeconds = 1 })
    func slowReader() async throws {
        try await RawConnection.open(port: world.client.port) { connection async throws in
            let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            try await connection.send(String(repeating: Self.request, count: 100) + last)
            var (bytes, pause) = (0, 1 << 20)
            // 10 MB in about three seconds, with pauses below the limit.
            while let part = try await connection.iterator.next() {
                bytes += part.readableBytes
                guard bytes > pause else { continue }
                pause += 1 << 20
                try await Task.sleep(for: .milliseconds(300))
            }
            #expect(bytes > 10_000_000)
        }
    }

    @Test("B.2 Malformed bytes after pipelined requests are answered after their answers", .server)
    func malformedAfterRequests() async throws {
        let answer = try await RawConnection.open(port: world.client.port) { connection async throws in
            let request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
            try await connection.send(String(repeating: request, count: 5) + "no HTTP\r\n\r\n")
            return try await connection.readToEnd()
        }
        let statuses = answer.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
        #expect(statuses == ["200", "200", "200", "200", "200", "400"])
    }

    @Test("B.2 Requests with bodies, one after the other in one write, are answered in their order", .server)
    func pipelinedBodies() async throws {
        let answer = try await RawConnection.open(port: world.client.port) { connection async throws in
            var text = ""
            for length in [2, 5000, 100_000, 3] {
                let body = String(repeating: " ", count: length - 2) + "{}"
                text += "POST /verifyReceipt HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n\(body)"
            }
            try await connection.send(text + "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            return try await connection.readToEnd()
        }
        #expect(answer.components(separatedBy: #"{"status":21002}"#).count == 5)
        #expect(answer.hasSuffix(#"{"status":"ok"}"#))
    }
}
