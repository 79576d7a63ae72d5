import AppStoreConnection
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import ServerTestSupport
import Testing

/// Every fault of the simulated store, over real HTTP and TLS, and the outcome that the client reports.
@Suite("The client and the faults of the store")
struct FaultTableTests {
    /// A fault in the form that the control API expects.
    struct Row: Sendable, CustomTestStringConvertible {
        let fault: String
        let outcome: String
        /// The number of answers that the client requests.
        let attempts: Int

        init(_ fault: String, _ outcome: String, _ attempts: Int) {
            self.fault = fault
            self.outcome = outcome
            self.attempts = attempts
        }

        var testDescription: String { fault }

        var body: [String: Any] {
            get throws {
                let json = "{\"count\":100,\(fault)}"
                return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            }
        }
    }

    static let rows = [
        Row(#""kind":"latency","milliseconds":1"#, "0 Production", 1),
        Row(#""kind":"edited""#, "0 Production", 1), Row(#""kind":"another-receipt""#, "0 Production", 1),
        Row(#""kind":"status","status":0"#, "0 Production", 1),
        Row(#""kind":"status","status":21000"#, "app_store_status", 1),
        Row(#""kind":"status","status":21002"#, "app_store_status", 2),
        Row(#""kind":"status","status":21003"#, "21003 Production", 1),
        Row(#""kind":"status","status":21004"#, "21004 Production", 1),
        Row(#""kind":"status","status":21005"#, "app_store_status", 4),
        Row(#""kind":"status","status":21006"#, "21006 Production", 1),
        // The sandbox answers the same, and its answer is final.
        Row(#""kind":"status","status":21007"#, "21007 Sandbox", 2),
        Row(#""kind":"status","status":21008"#, "app_store_status", 1),
        Row(#""kind":"status","status":21009"#, "app_store_status", 4),
        Row(#""kind":"status","status":21010"#, "21010 Production", 1),
        Row(#""kind":"status","status":21104,"is_retryable":true"#, "app_store_status", 4),
        Row(#""kind":"status","status":21104,"is_retryable":false"#, "app_store_status", 1),
        Row(#""kind":"status","status":21199,"is_retryable":true,"spelling":"hyphen""#, "app_store_status", 4),
        Row(#""kind":"status","status":21199,"is_retryable":false,"spelling":"hyphen""#, "app_store_status", 1),
        Row(#""kind":"status","status":21150,"is_retryable":false,"spelling":"both""#, "app_store_status", 1),
        Row(#""kind":"outage""#, "app_store_http_status", 4), Row(#""kind":"redirect""#, "app_store_http_status", 4),
        Row(#""kind":"html""#, "app_store_unreadable", 4), Row(#""kind":"broken-json""#, "app_store_unreadable", 4),
        Row(#""kind":"reset""#, "app_store_unreachable", 4), Row(#""kind":"closed-body""#, "app_store_unreachable", 4),
    ]

    @Test("Each fault has its outcome, after its number of attempts")
    func table() async throws {
        try await ConnectionWorld.run { world in
            let receipt = try await world.receipt(of: "coins")
            for base in [world.https, world.http] {
                for row in Self.rows {
                    try await world.client(at: base) { client in
                        try await world.post("faults/answers", try row.body)
                        let outcome = await client.validate(.init(receipt))
                        #expect(outcome.short == row.outcome, "\(base) \(row.fault): \(outcome.words)")
                        let left = try await world.faultsLeft()
                        #expect(100 - left == row.attempts, "\(base) \(row.fault)")
                        _ = try await world.call("faults", .delete)
                        // Nothing is lost: the next question has the true answer.
                        #expect(await client.validate(.init(receipt)).short == "0 Production", "\(row.fault)")
                    }
                }
            }
        }
    }

    @Test("A fault that ends within the schedule of attempts delays the delivery and loses nothing")
    func passing() async throws {
        try await ConnectionWorld.run { world in
            let receipt = try await world.receipt(of: "coins")
            for kind in ["reset", "outage", "html", "broken-json", "closed-body"] {
                // With a single client, five such attempts would open the circuit.
                try await world.client { client in
                    try await world.post("faults/answers", ["kind": kind, "count": 3])
                    #expect(await client.validate(.init(receipt)).short == "0 Production", "\(kind)")
                    #expect(try await world.faultsLeft() == 0)
                }
            }
        }
    }

    @Test("A slow body ends in a time-out: between two pieces, and as a whole")
    func slow() async throws {
        try await ConnectionWorld.run { world in
            let receipt = try await world.receipt(of: "coins")
            for limits in [
                AttemptLimits(connect: .minutes(1), read: .milliseconds(300), whole: .minutes(2)),
                AttemptLimits(connect: .minutes(1), read: .minutes(2), whole: .milliseconds(300)),
            ] {
                try await world.client(limits: limits) { client in
                    try await world.post("faults/answers", ["kind": "slow-body", "count": 100])
                    let outcome = await client.validate(.init(receipt))
                    #expect(outcome.short == "app_store_timeout", "\(outcome.words)")
                    _ = try await world.call("faults", .delete)
                }
            }
        }
    }

    @Test("A reply over 32 MiB is not read to its end")
    func huge() async throws {
        try await ConnectionWorld.run { world in
            let receipt = try await world.receipt(of: "coins")
            try await world.client(at: world.http) { client in
                try await world.post("faults/answers", ["kind": "huge-body", "count": 100])
                let outcome = await client.validate(.init(receipt))
                #expect(outcome.short == "app_store_too_large", "\(outcome.words)")
                #expect(try await world.faultsLeft() == 96)
                _ = try await world.call("faults", .delete)
                #expect(await client.validate(.init(receipt)).short == "0 Production")
            }
        }
    }

    @Test("A server with a wrong certificate gets no receipt", arguments: ["wrong-host", "expired", "unknown-issuer"])
    func certificates(_ fault: String) async throws {
        try await ConnectionWorld.run { world in
            let receipt = try await world.receipt(of: "coins")
            try await world.client { client in
                try await world.post("faults/certificates", ["fault": fault, "count": 4])
                try await world.post("faults/answers", ["kind": "latency", "milliseconds": 0, "count": 100])
                let outcome = await client.validate(.init(receipt))
                #expect(outcome.short == "app_store_certificate", "\(outcome.words)")
                #expect(try await world.faultsLeft() == 100, "no request arrived")
                _ = try await world.call("faults", .delete)
                #expect(await client.validate(.init(receipt)).short == "0 Production")
            }
        }
    }

    @Test("The simulator's authority is trusted only if the settings say so, and a port without TLS is refused")
    func trust() async throws {
        try await ConnectionWorld.run { world in
            let receipt = try await world.receipt(of: "coins")
            try await world.client(trust: false) { client in
                #expect(await client.validate(.init(receipt)).short == "app_store_certificate")
            }
            try await world.client(at: "https://127.0.0.1:\(world.control.port)") { client in
                let outcome = await client.validate(.init(receipt))
                #expect(["app_store_certificate", "app_store_unreachable"].contains(outcome.short), "\(outcome.words)")
            }
            // An address in the certificate is accepted like a name.
            try await world.client(at: world.https.replacingOccurrences(of: "localhost", with: "127.0.0.1")) { client in
                #expect(await client.validate(.init(receipt)).short == "0 Production")
            }
        }
    }

    @Test("A port without a listener, and a host name that does not exist")
    func unreachable() async throws {
        try await ConnectionWorld.run { world in
            for base in ["http://127.0.0.1:1", "https://name.invalid"] {
                try await world.client(at: base) { client in
                    let outcome = await client.validate(.init([1]))
                    #expect(outcome.short == "app_store_unreachable", "\(outcome.words)")
                }
            }
        }
    }

    @Test("Receipts of each kind and environment have the store's answers")
    func answers() async throws {
        try await ConnectionWorld.run { world in
            let coins = try await world.receipt(of: "coins")
            let old = try await world.receipt(of: "coins", "transaction_receipt")
            let sandbox = try await world.receipt(of: "coins", by: "tester")
            let gold = try await world.receipt(of: "gold", by: "grace")
            try await world.client { client in
                #expect(await client.validate(.init(coins)).short == "0 Production")
                #expect(await client.validate(.init(sandbox)).short == "0 Sandbox")
                #expect(await client.validate(.init(gold, .present)).short == "0 Production")
                #expect(await client.validate(.init(gold, .absent)).short == "21004 Production")
                #expect(await client.validate(.init(gold, .present, secret: "wrong")).short == "21004 Production")
                #expect(await client.validate(.init([0x30, 0x00])).short == "21003 Production")
                guard case .conclusive(let reply) = await client.validate(.init(old)) else {
                    Issue.record("no answer")
                    return
                }
                #expect(reply.response.flatReceipt?["product_id"] == "coins")
                #expect(reply.response.json() == reply.json)
            }
        }
    }

    @Test("An outage by the store's clock: the circuit opens, and closes after the end of the outage")
    func outage() async throws {
        try await ConnectionWorld.run { world in
            let receipt = try await world.receipt(of: "coins")
            try await world.post(
                "faults/answers", ["kind": "outage", "from": "2026-01-31T12:10:00Z", "until": "2026-01-31T13:10:00Z"])
            let (clock, changes) = (ManualClock(), CircuitChanges())
            try await world.client(clock: clock, changes: changes) { client in
                #expect(await client.validate(.init(receipt)).short == "0 Production")
                try await world.post("clock", ["time": "2026-01-31T12:10:00Z"])
                #expect(await client.validate(.init(receipt)).short == "app_store_http_status")
                #expect(await client.validate(.init(receipt)).short == "app_store_circuit_open")
                // However many questions are asked, the outage lasts.
                for _ in 0..<20 {
                    clock.advance(.seconds(20))
                    #expect(await client.validate(.init(receipt)).short == "app_store_circuit_open")
                }
                try await world.post("clock", ["time": "2026-01-31T13:10:00Z"])
                clock.advance(.seconds(20))
                #expect(await client.validate(.init(receipt)).short == "0 Production")
            }
            #expect(changes.all == ["Production opened", "Production closed"])
            #expect(try await world.faultsLeft() == 0)
        }
    }

    @Test("Edited answers, and those to another receipt, differ in the stated fields")
    func edits() async throws {
        try await ConnectionWorld.run { world in
            let other = try await world.receipt(of: "coins", by: "grace")
            let receipt = try await world.receipt(of: "gold")
            try await world.client { client in
                let truth = try await reply(client, receipt)
                func edited(_ edit: String) async throws -> VerifyReceiptResponse {
                    try await world.post("faults/answers", ["kind": "edited", "edit": edit])
                    let response = try await reply(client, receipt)
                    #expect(response.json() != truth.json(), "\(edit)")
                    return response
                }
                #expect(try await edited("product").receipt?.inApp.first?.productID == "gold.lifetime")
                #expect(try await edited("bundle").receipt?.bundleID == "com.example.other")
                #expect(try await edited("environment").environment == "Sandbox")
                #expect(try await edited("quantity").receipt?.inApp.first?.quantity == 11)
                #expect(try await edited("empty").receipt?.inApp.isEmpty == true)
                let transaction = try #require(truth.receipt?.inApp.first?.transactionID)
                #expect(try await edited("transaction").receipt?.inApp.first?.transactionID == transaction + "7")
                let expiry = try await edited("expiry").receipt?.inApp.first?.expiresDate
                #expect(expiry?.greenwich.hasPrefix("2099-") == true)
                try await world.post("faults/answers", ["kind": "another-receipt"])
                let another = try await reply(client, receipt).receipt?.inApp.map(\.productID)
                #expect(another == ["coins"])
                try await world.post("faults/answers", ["kind": "another-receipt"])
                let back = try await reply(client, other).receipt?.inApp.map(\.productID)
                #expect(back == ["gold"])
            }
        }
    }

    private func reply(_ client: VerifyReceiptClient, _ receipt: [UInt8]) async throws -> VerifyReceiptResponse {
        let outcome = await client.validate(.init(receipt, .present))
        guard case .conclusive(let reply) = outcome else {
            Issue.record("\(outcome.words)")
            throw CancellationError()
        }
        return reply.response
    }
}

extension ReceiptValidationOutcome {
    /// A description for failures of tests.
    var words: String {
        switch self {
        case .conclusive: short
        case .undetermined(let reason): reason.description
        }
    }
}
