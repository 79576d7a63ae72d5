import AppStoreConnection
import Foundation
import NIOHTTP1
import PurchaseAPI
import Synchronization
import Testing

@Suite("Requests on the wire")
struct WireTests {
    private func run(
        answer: @escaping @Sendable (RecordingServer.Request) async -> RecordingServer.Reply = { _ in .init() },
        clock: ManualClock = ManualClock(), changes: CircuitChanges = CircuitChanges(),
        _ body: @escaping @Sendable (RecordingServer, VerifyReceiptClient) async throws -> Void
    ) async throws {
        try await RecordingServer.run(answer: answer) { server, port in
            let settings = try AppStoreConnectionSettings(
                production: "http://127.0.0.1:\(port)/verifyReceipt",
                sandbox: "http://127.0.0.1:\(port)/sandbox/verifyReceipt")
            try await VerifyReceiptClient.run(settings, clock: clock, changes: changes) { client in
                try await body(server, client)
            }
        }
    }

    @Test("A request has a length and is not chunked, asks for gzip, and reuses the connection")
    func form() async throws {
        // The answer is compressed, because the request asks for it; 100,000 bytes of padding arrive complete.
        let long = #"{"status":0,"padding":"\#(String(repeating: "x", count: 100_000))"}"#
        try await run(answer: { _ in .init(body: long) }) { server, client in
            for size in [1, 10_000, 3_000_000] {
                let outcome = await client.validate(.init(Array(repeating: 7, count: size)))
                guard case .conclusive(let reply) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(reply.json.elementsEqual(long.utf8))
                #expect(reply.response.json() == reply.json)
                #expect(reply.environment == .production)
            }
            #expect(server.requests.count == 3)
            for request in server.requests {
                #expect(request.connection == 1)
                #expect(request.head.method == .POST)
                #expect(request.head.uri == "/verifyReceipt")
                #expect(request.head.headers["content-length"] == ["\(request.body.utf8.count)"])
                #expect(request.head.headers["transfer-encoding"].isEmpty)
                #expect(request.head.headers["accept-encoding"] == ["gzip"])
                #expect(request.head.headers["content-type"] == ["application/json"])
            }
        }
    }

    @Test("A call belongs to the trace that it is made in, and a call outside of one has none")
    func trace() async throws {
        try await run { server, client in
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            _ = await client.validate(.init([1]))
            _ = await OutgoingTrace.$parent.withValue(trace) { await client.validate(.init([2])) }
            #expect(server.requests.map { $0.head.headers["traceparent"] } == [[], [trace]])
        }
    }

    @Test("The secret is sent only with receipts that may need it, and the flag only on request")
    func bodies() async throws {
        try await run { server, client in
            let base64 = Data([1, 2, 3]).base64EncodedString()
            var request = ReceiptValidationRequest([1, 2, 3], .absent)
            _ = await client.validate(request)
            request.excludesOldTransactions = true
            _ = await client.validate(request)
            request.autoRenewables = .present
            _ = await client.validate(request)
            request.autoRenewables = .unknown
            request.excludesOldTransactions = false
            _ = await client.validate(request)
            request.sharedSecret = nil
            _ = await client.validate(request)
            let secret = ConnectionWorld.secret
            #expect(
                server.requests.map(\.body) == [
                    #"{"receipt-data":"\#(base64)"}"#,
                    #"{"receipt-data":"\#(base64)","exclude-old-transactions":true}"#,
                    #"{"receipt-data":"\#(base64)","password":"\#(secret)","exclude-old-transactions":true}"#,
                    #"{"receipt-data":"\#(base64)","password":"\#(secret)"}"#, #"{"receipt-data":"\#(base64)"}"#,
                ])
        }
    }

    @Test("After 21004 the receipt is sent once more without the secret, if it is not known to need one")
    func secretMismatch() async throws {
        let answer: @Sendable (RecordingServer.Request) async -> RecordingServer.Reply = {
            .status($0.body.contains("password") ? 21004 : 0)
        }
        try await run(answer: answer) { server, client in
            #expect(await client.validate(.init([1], .unknown)).short == "0 Production")
            #expect(server.requests.count == 2)
            #expect(await client.validate(.init([1], .present)).short == "21004 Production")
            #expect(server.requests.count == 3)
        }
        try await run(answer: { _ in .status(21004) }) { server, client in
            #expect(await client.validate(.init([1], .unknown)).short == "21004 Production")
            #expect(server.requests.count == 2)
            #expect(await client.validate(.init([2], .absent)).short == "21004 Production")
            #expect(server.requests.count == 3)
        }
    }

    @Test("The sandbox is asked after 21007, once, and the result is not remembered")
    func switching() async throws {
        let answer: @Sendable (RecordingServer.Request) async -> RecordingServer.Reply = {
            .status($0.head.uri.hasPrefix("/sandbox") ? 0 : 21007)
        }
        try await run(answer: answer) { server, client in
            for count in 1...2 {
                #expect(await client.validate(.init([1])).short == "0 Sandbox")
                #expect(server.requests.count == count * 2)
            }
        }
        for status in [21007, 21008] {
            let answer: @Sendable (RecordingServer.Request) async -> RecordingServer.Reply = {
                .status($0.head.uri.hasPrefix("/sandbox") ? status : 21007)
            }
            try await run(answer: answer) { server, client in
                #expect(await client.validate(.init([1])).short == "\(status) Sandbox")
                #expect(server.requests.count == 2)
            }
        }
        try await run(answer: { _ in .status(21008) }) { server, client in
            #expect(await client.validate(.init([1])).short == "app_store_status")
            #expect(server.requests.map(\.head.uri) == ["/verifyReceipt"])
        }
    }

    @Test("A redirect is not followed, and its target gets nothing")
    func redirect() async throws {
        try await RecordingServer.run { target, port in
            for status in [301, 302, 303, 307, 308] {
                try await run(answer: { _ in
                    .init(status: .init(statusCode: status), headers: ["location": "http://127.0.0.1:\(port)/"])
                }) { server, client in
                    #expect(await client.validate(.init([1])).short == "app_store_http_status")
                    #expect(server.requests.count == 4)
                }
            }
            #expect(target.requests.isEmpty)
        }
    }

    @Test(
        "Other HTTP statuses are undetermined, whatever they say in JSON",
        arguments: [201, 400, 403, 404, 429, 500, 503])
    func httpStatus(_ status: Int) async throws {
        try await run(answer: { _ in .init(status: .init(statusCode: status)) }) { server, client in
            #expect(await client.validate(.init([1])).short == "app_store_http_status")
            #expect(server.requests.count == 4)
        }
    }

    @Test("The pauses are those of the schedule; an answer ends them")
    func pauses() async throws {
        let clock = ManualClock()
        try await run(answer: { $0.number < 4 ? .status(21005) : .init() }, clock: clock) { _, client in
            #expect(await client.validate(.init([1])).short == "0 Production")
        }
        #expect(clock.sleeps == [.milliseconds(500), .seconds(1), .seconds(2)])
    }

    @Test("Concurrent calls with an identical receipt are one call; a later one is a new call")
    func identical() async throws {
        let gate = Gate()
        let calls = Mutex((now: 0, most: 0))
        try await run(answer: { _ in
            calls.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            await gate.wait()
            calls.withLock { $0.now -= 1 }
            return .init()
        }) { server, client in
            await withTaskGroup(of: String.self) { group in
                for index in 0..<100 { group.addTask { await client.validate(.init([UInt8(index % 2)])).short } }
                while server.requests.count < 2 { await Task.yield() }
                await gate.open()
                for await outcome in group { #expect(outcome == "0 Production") }
            }
            // Some callers may begin after the first answer.
            #expect((2...100).contains(server.requests.count))
            let before = server.requests.count
            _ = await client.validate(.init([0]))
            #expect(server.requests.count == before + 1)
        }
    }

    @Test("A caller that is cancelled does not take the answer from another")
    func cancelledCaller() async throws {
        let gate = Gate()
        try await run(answer: { _ in
            await gate.wait()
            return .init()
        }) { server, client in
            let first = Task { await client.validate(.init([1])).short }
            while server.requests.isEmpty { await Task.yield() }
            let second = Task { await client.validate(.init([1])).short }
            first.cancel()
            await gate.open()
            #expect(await second.value == "0 Production")
        }
    }

    @Test("At most 16 calls of an app are in flight")
    func inFlight() async throws {
        let gate = Gate()
        let calls = Mutex((now: 0, most: 0))
        try await run(answer: { _ in
            calls.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            await gate.wait()
            calls.withLock { $0.now -= 1 }
            return .init()
        }) { server, client in
            await withTaskGroup(of: String.self) { group in
                for index in 0..<100 { group.addTask { await client.validate(.init([UInt8(index)])).short } }
                while await gate.waiting < 16 { await Task.yield() }
                await gate.open()
                for await outcome in group { #expect(outcome == "0 Production") }
            }
            #expect(server.requests.count == 100)
            #expect(calls.withLock { $0.most } == 16)
            #expect(Set(server.requests.map(\.connection)).count <= 16)
        }
    }

    @Test("The circuit opens, refuses without a call, probes, and closes; the sandbox has its own")
    func circuit() async throws {
        let isDown = Mutex(true)
        let (clock, changes) = (ManualClock(), CircuitChanges())
        let answer: @Sendable (RecordingServer.Request) async -> RecordingServer.Reply = { _ in
            isDown.withLock { $0 } ? .init(status: .serviceUnavailable) : .init()
        }
        try await run(answer: answer, clock: clock, changes: changes) { server, client in
            #expect(await client.validate(.init([1])).short == "app_store_http_status")
            #expect(client.circuit(of: .production) == .closed)
            // The fifth attempt opens it, and there is no sixth.
            #expect(await client.validate(.init([2])).short == "app_store_circuit_open")
            #expect(server.requests.count == 5)
            #expect(changes.all == ["Production opened"])
            #expect(client.circuit(of: .sandbox) == .closed)
            let refused = await client.validate(.init([3]))
            guard case .undetermined(let reason) = refused else {
                Issue.record("\(refused.short)")
                return
            }
            #expect(reason.code == .circuitOpen)
            #expect(server.requests.count == 5)
            clock.advance(reason.retryAfter)
            // The probe fails, and is not repeated.
            #expect(await client.validate(.init([3])).short == "app_store_circuit_open")
            #expect(server.requests.count == 6)
            isDown.withLock { $0 = false }
            clock.advance(.seconds(15))
            #expect(await client.validate(.init([4])).short == "0 Production")
            #expect(await client.validate(.init([5])).short == "0 Production")
            #expect(client.circuit(of: .production) == .closed)
            #expect(changes.all == ["Production opened", "Production closed"])
        }
    }

    @Test(
        "Statuses that are about one receipt do not open the circuit",
        arguments: ["21002", #"21104,"is_retryable":false"#])
    func aboutTheReceipt(_ status: String) async throws {
        try await run(answer: { _ in .init(body: "{\"status\":\(status)}") }) { _, client in
            for index in 0..<20 { #expect(await client.validate(.init([UInt8(index)])).short == "app_store_status") }
            #expect(client.circuit(of: .production) == .closed)
        }
    }

    @Test("No text of an outcome has the secret or the receipt")
    func noSecrets() async throws {
        let receipt = Array("the bytes of the receipt".utf8)
        try await run(answer: { request in .init(status: .badGateway, body: request.body) }) { server, client in
            let outcome = await client.validate(.init(receipt, .present))
            #expect(server.requests.first?.body.contains(ConnectionWorld.secret) == true)
            guard case .undetermined(let reason) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            let base64 = Data(receipt).base64EncodedString()
            #expect(!"\(reason) \(String(reflecting: reason))".contains(ConnectionWorld.secret))
            #expect(!"\(reason)".contains(base64))
        }
    }

    @Test("A closed client answers at once, and ends the calls in flight")
    func shutdown() async throws {
        let gate = Gate()
        try await RecordingServer.run(answer: { _ in
            await gate.wait()
            return .init()
        }) { server, port in
            let url = "http://127.0.0.1:\(port)/verifyReceipt"
            let client = try VerifyReceiptClient(
                try AppStoreConnectionSettings(production: url, sandbox: url), limits: .patient)
            async let outcome = client.validate(.init([1]))
            while server.requests.isEmpty { await Task.yield() }
            try await client.shutdown()
            #expect(await outcome.short == "app_store_cancelled")
            #expect(await client.validate(.init([2])).short == "app_store_cancelled")
            await gate.open()
        }
    }
}

/// Holds tasks until it is opened.
actor Gate {
    private var isOpen = false
    private var held: [CheckedContinuation<Void, Never>] = []

    var waiting: Int { held.count }

    func wait() async {
        guard !isOpen else { return }
        await withCheckedContinuation { held.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in held { continuation.resume() }
        held = []
    }
}
