import EvidenceMint
import Foundation

extension RetentionContent {
    private static let requests: Int64 = 1000
    private static let threshold: Int64 = 700

    /// Runs a performance test, which every server passes.
    mutating func passTest(of originalTransactionID: String, at now: Date) throws {
        tests.append(
            UUID(derivedFrom: "performance test|\(originalTransactionID)|\(tests.count)|\(now.timeIntervalSince1970)")
                .uuidString.lowercased())
    }

    /// `POST …/performanceTest`.
    func testAnswer() -> ServerAPIAnswer {
        ServerAPIAnswer([Claim("config", Self.config), Claim("requestId", .string(tests.last ?? ""))])
    }

    /// `GET …/performanceTest/result/{requestId}`.
    func testResult(_ id: String) throws -> ServerAPIAnswer {
        guard UUID(uuidString: id) != nil else {
            throw ServerAPIFailure(4_000_212, "The identifier of the performance test has a wrong form.")
        }
        guard tests.contains(id.lowercased()) else {
            throw ServerAPIFailure(4_040_018, "There is no such performance test.")
        }
        let times = ["average", "p50", "p90", "p95", "p99"].map { Claim($0, .integer(20)) }
        return ServerAPIAnswer([
            Claim("config", Self.config), Claim("target", .string(realtimeAddress ?? "")),
            Claim("result", .string("PASS")), Claim("successRate", .integer(100)), Claim("numPending", .integer(0)),
            Claim("responseTimes", .object(times)), Claim("failures", .object([])),
        ])
    }

    private static let config = ClaimValue.object([
        Claim("maxConcurrentRequests", .integer(10)), Claim("totalRequests", .integer(requests)),
        Claim("totalDuration", .integer(60_000)), Claim("responseTimeThreshold", .integer(threshold)),
        Claim("successRateThreshold", .integer(95)),
    ])
}
