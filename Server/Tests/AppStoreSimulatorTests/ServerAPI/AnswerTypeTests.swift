import AppStoreSimulator
import Foundation
import HTTPTypes
import Testing

/// Apple's library for Node refuses an answer if a member that it knows has another type than in Apple's pages, `null`
/// included, or if a text of an enumeration is in place of a number.
@Suite("29.1 Every member of an answer has Apple's type")
struct AnswerTypeTests {
    /// The type of a JSON value.
    private indirect enum Shape: Sendable {
        case text, number, boolean
        /// One of these texts.
        case word(Set<String>)
        /// One of these numbers.
        case code(ClosedRange<Int>)
        case list(Shape)
        /// The members, and whether each must be there.
        case object([String: (Shape, isRequired: Bool)])

        static func required(_ shape: Shape) -> (Shape, isRequired: Bool) { (shape, true) }
        static func optional(_ shape: Shape) -> (Shape, isRequired: Bool) { (shape, false) }
    }

    private static let environments = Shape.word(["Production", "Sandbox"])
    private static let attempts = Shape.list(
        .object([
            "attemptDate": Shape.required(.number),
            "sendAttemptResult": Shape.required(
                .word([
                    "SUCCESS", "TIMED_OUT", "TLS_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE",
                    "UNSUPPORTED_CHARSET", "INVALID_RESPONSE", "PREMATURE_CLOSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
                    "OTHER",
                ])),
        ]))
    private static let config = Shape.object(
        Dictionary(
            uniqueKeysWithValues: [
                "maxConcurrentRequests", "totalRequests", "totalDuration", "responseTimeThreshold",
                "successRateThreshold",
            ].map { ($0, Shape.required(.number)) }))

    private static let answers: [String: Shape] = [
        "StatusResponse": .object([
            "environment": Shape.required(environments), "bundleId": Shape.required(.text),
            "appAppleId": Shape.optional(.number),
            "data": Shape.required(
                .list(
                    .object([
                        "subscriptionGroupIdentifier": Shape.required(.text),
                        "lastTransactions": Shape.required(
                            .list(
                                .object([
                                    "status": Shape.required(.code(1...5)),
                                    "originalTransactionId": Shape.required(.text),
                                    "signedTransactionInfo": Shape.required(.text),
                                    "signedRenewalInfo": Shape.required(.text),
                                ]))),
                    ]))),
        ]),
        "HistoryResponse": .object([
            "revision": Shape.required(.text), "hasMore": Shape.required(.boolean), "bundleId": Shape.required(.text),
            "appAppleId": Shape.optional(.number), "environment": Shape.required(environments),
            "signedTransactions": Shape.required(.list(.text)),
        ]),
        "RefundHistoryResponse": .object([
            "revision": Shape.required(.text), "hasMore": Shape.required(.boolean),
            "signedTransactions": Shape.required(.list(.text)),
        ]),
        "TransactionInfoResponse": .object(["signedTransactionInfo": Shape.required(.text)]),
        "AppTransactionInfoResponse": .object(["signedAppTransactionInfo": Shape.required(.text)]),
        "OrderLookupResponse": .object([
            "status": Shape.required(.code(0...1)), "signedTransactions": Shape.optional(.list(.text)),
        ]),
        "ExtendRenewalDateResponse": .object([
            "originalTransactionId": Shape.required(.text), "webOrderLineItemId": Shape.required(.text),
            "success": Shape.required(.boolean), "effectiveDate": Shape.required(.number),
        ]),
        "MassExtendRenewalDateResponse": .object(["requestIdentifier": Shape.required(.text)]),
        "MassExtendRenewalDateStatusResponse": .object([
            "requestIdentifier": Shape.required(.text), "complete": Shape.required(.boolean),
            "completeDate": Shape.required(.number), "succeededCount": Shape.required(.number),
            "failedCount": Shape.required(.number),
        ]),
        "SendTestNotificationResponse": .object(["testNotificationToken": Shape.required(.text)]),
        "CheckTestNotificationResponse": .object([
            "signedPayload": Shape.required(.text), "sendAttempts": Shape.required(attempts),
        ]),
        "NotificationHistoryResponse": .object([
            "paginationToken": Shape.optional(.text), "hasMore": Shape.required(.boolean),
            "notificationHistory": Shape.required(
                .list(.object(["signedPayload": Shape.required(.text), "sendAttempts": Shape.required(attempts)]))),
        ]),
        "PerformanceTestResponse": .object([
            "config": Shape.required(config), "requestId": Shape.required(.text),
        ]),
        "PerformanceTestResultResponse": .object([
            "config": Shape.required(config), "target": Shape.required(.text),
            "result": Shape.required(.word(["PENDING", "PASS", "FAIL"])), "successRate": Shape.required(.number),
            "numPending": Shape.required(.number),
            "responseTimes": Shape.required(
                .object(
                    Dictionary(
                        uniqueKeysWithValues: ["average", "p50", "p90", "p95", "p99"].map {
                            ($0, Shape.required(.number))
                        }))),
            "failures": Shape.required(.object([:])),
        ]),
        "Error": .object(["errorCode": Shape.required(.number), "errorMessage": Shape.required(.text)]),
    ]

    /// A JSON value, read without guessing: `true` is no number.
    private enum Value: Decodable {
        case null, fraction
        case boolean(Bool)
        case number(Int)
        case text(String)
        case list([Value])
        case object([String: Value])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Int.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if let value = try? container.decode([Value].self) {
                self = .list(value)
            } else if let value = try? container.decode([String: Value].self) {
                self = .object(value)
            } else {
                self = .fraction
            }
        }
    }

    /// The places where a value has another type.
    private static func faults(_ value: Value, _ shape: Shape, at place: String) -> [String] {
        switch (shape, value) {
        case (.text, .text), (.boolean, .boolean), (.number, .number): return []
        case (.word(let words), .text(let text)) where words.contains(text): return []
        case (.code(let codes), .number(let number)) where codes.contains(number): return []
        case (.list(let element), .list(let values)):
            return values.flatMap { faults($0, element, at: "\(place)[]") }
        case (.object(let members), .object(let object)):
            let missing = members.filter { $0.value.isRequired && object[$0.key] == nil }
            return missing.map { "\(place).\($0.key) is missing" }
                + object.flatMap { name, value in
                    members[name].map { faults(value, $0.0, at: "\(place).\(name)") }
                        ?? ["\(place).\(name) is unknown"]
                }
        default: return ["\(place) has another type"]
        }
    }

    private static func check(_ answer: ServerAPIClient.Answer, _ name: String) throws {
        let value = try JSONDecoder().decode(Value.self, from: Data(answer.text.utf8))
        let found = faults(value, try #require(answers[name]), at: name)
        #expect(found.isEmpty, "\(found) in \(answer.text.prefix(300))")
        // Apple's library for Python reads the code of an error only with exactly this type, without a charset.
        #expect(answer.headers[.contentType] == "application/json")
    }

    @Test("29.1 The answers of both environments have the members and types of Apple's pages, and no null")
    func types() async throws {
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            try await ServerAPIClient.run(DeliveryWorld.configuration(port)) { client in
                for (customer, isSandbox) in [("ada", false), ("tester", true)] {
                    let id = try await client.buy("gold", by: customer)
                    for _ in 0..<21 { _ = try await client.buy("coins", by: customer) }
                    try await client.simulator.deliver()
                    func get(_ path: String) async throws -> ServerAPIClient.Answer {
                        try await client.get(path, sandbox: isSandbox)
                    }
                    func send(
                        _ method: HTTPRequest.Method, _ path: String, _ body: [String: Any]? = nil
                    ) async throws -> ServerAPIClient.Answer {
                        try await client.send(method, path, body, sandbox: isSandbox)
                    }
                    try Self.check(try await get("/inApps/v1/subscriptions/\(id)"), "StatusResponse")
                    try Self.check(try await get("/inApps/v2/history/\(id)"), "HistoryResponse")
                    try Self.check(try await get("/inApps/v1/history/\(id)"), "HistoryResponse")
                    try Self.check(try await get("/inApps/v2/refund/lookup/\(id)"), "RefundHistoryResponse")
                    try Self.check(try await get("/inApps/v1/transactions/\(id)"), "TransactionInfoResponse")
                    try Self.check(
                        try await get("/inApps/v1/transactions/appTransactions/\(id)"), "AppTransactionInfoResponse")
                    try Self.check(try await get("/inApps/v1/transactions/123"), "Error")
                    var wanted: [String: Any] = [
                        "extendByDays": 1, "extendReasonCode": 0, "requestIdentifier": "one",
                    ]
                    try Self.check(
                        try await send(.put, "/inApps/v1/subscriptions/extend/\(id)", wanted),
                        "ExtendRenewalDateResponse")
                    wanted["productId"] = "gold"
                    let mass = "/inApps/v1/subscriptions/extend/mass"
                    try Self.check(try await send(.post, mass, wanted), "MassExtendRenewalDateResponse")
                    try Self.check(try await get("\(mass)/gold/one"), "MassExtendRenewalDateStatusResponse")
                    let test = try await send(.post, "/inApps/v1/notifications/test")
                    try Self.check(test, "SendTestNotificationResponse")
                    try await client.simulator.deliver()
                    let token = try #require(try test.object["testNotificationToken"] as? String)
                    try Self.check(
                        try await get("/inApps/v1/notifications/test/\(token)"), "CheckTestNotificationResponse")
                    let start = Int(StoreWorld.start.timeIntervalSince1970) * 1000
                    try Self.check(
                        try await send(
                            .post, "/inApps/v1/notifications/history", ["startDate": start, "endDate": start + 1000]),
                        "NotificationHistoryResponse")
                    if !isSandbox {
                        let order = try await client.simulator.get("/control/transactions/\(id)").text("order_id")
                        try Self.check(try await get("/inApps/v1/lookup/\(order)"), "OrderLookupResponse")
                        try Self.check(try await get("/inApps/v1/lookup/MS1"), "OrderLookupResponse")
                    }
                }
            }
        }
    }
}
