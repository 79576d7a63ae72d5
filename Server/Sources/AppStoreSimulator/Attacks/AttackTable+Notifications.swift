import EvidenceMint
import Foundation

extension AttackTable {
    /// The attacks on the address for notifications. It answers 400 to what is malformed or provably forged, 404 for an
    /// unknown app, and 503 for an issuer, an algorithm or a header that it does not know, because those may be Apple's
    /// next ones.
    func notifications(_ next: () -> Int) -> [Attack] {
        let evidence = evidence
        let first = next()
        // Signed once, so that the same bytes are sent again.
        let genuine = Result { try evidence.notification(first) }
        var attacks = [
            notification("genuine", "Nothing is wrong.", .accepted) { try genuine.get() },
            notification("sent-again", "The same notification is sent again.", .accepted) { try genuine.get() },
            notification("old-under-new-uuid", "An old notification has another UUID.", Self.forged) {
                AttackEvidence.edited(try genuine.get()) { claims in
                    claims.replacing("\"notificationUUID\":\"", with: "\"notificationUUID\":\"0")
                }
            },
            notification("unsigned", "The signature is missing.", Self.forged) {
                try genuine.get().split(separator: ".", omittingEmptySubsequences: false).prefix(2).joined(
                    separator: ".")
                    + "."
            },
            notification(
                "unknown-algorithm", "The header names an algorithm that may come one day.", .answered([503])
            ) {
                AttackEvidence.edited(try genuine.get(), part: 0) { header in
                    header.replacing("\"ES256\"", with: "\"ML-DSA-65\"")
                }
            },
            notification(
                "unknown-critical-header", "The header has a critical member that may come one day.", .answered([503])
            ) {
                AttackEvidence.edited(try genuine.get(), part: 0) { header in
                    header.replacing("{\"alg\"", with: "{\"crit\":[\"next\"],\"next\":1,\"alg\"")
                }
            },
        ]
        for fault in SignedPayloadFault.applicable(to: evidence.notificationTemplate(0)) {
            let number = next()
            attacks.append(
                notification(fault.rawValue, fault.explanation, Self.expectation(of: fault)) {
                    try evidence.notification(number, fault: fault)
                })
        }
        return attacks + parts(next) + requests()
    }

    /// Attacks with genuine data in the wrong place.
    private func parts(_ next: () -> Int) -> [Attack] {
        let evidence = evidence
        let numbers = (next(), next(), next(), next(), next())
        return [
            notification("swapped-parts", "The nested transaction and renewal info have changed places.", Self.forged) {
                let transaction = evidence.signedTransactionTemplate(numbers.0)
                return try evidence.notification(
                    transaction: try evidence.signed(RenewalInfoTemplate(transaction: transaction)),
                    renewalInfo: try evidence.signed(transaction))
            },
            notification(
                "parts-of-another", "The nested transaction is replaced by that of another notification.", Self.forged
            ) {
                let (old, new) = (
                    try evidence.signedTransaction(numbers.1), try evidence.signedTransaction(numbers.2)
                )
                return AttackEvidence.edited(try evidence.notification(transaction: old)) {
                    $0.replacing(old, with: new)
                }
            },
            notification(
                "sandbox-as-production", "A notification of production has a transaction of the sandbox.", Self.forged
            ) { try evidence.notification(transaction: try evidence.sandboxTransaction(numbers.3)) },
            notification(
                "edited-environment", "A notification of the sandbox is edited to be one of production.", Self.forged
            ) {
                let sandbox = try evidence.notification(
                    transaction: try evidence.sandboxTransaction(numbers.4), environment: evidence.sandbox)
                return AttackEvidence.edited(sandbox) {
                    $0.replacing("\"\(evidence.sandbox)\"", with: "\"\(evidence.environment)\"")
                }
            },
            notification(
                "another-app", "A genuine notification of an app that the server does not know.", .answered([404])
            ) {
                try evidence.of("com.example.another").notification(numbers.0)
            },
            notification("signed-transaction", "A signed transaction is sent as a notification.", Self.forged) {
                try evidence.signedTransaction(numbers.0)
            },
        ]
    }

    /// Attacks with a wrong request.
    private func requests() -> [Attack] {
        let bodies: [(String, String, Attack.Expectation, @Sendable () -> [UInt8])] = [
            ("not-json", "The request is not JSON.", Self.forged, { Array("signedPayload=eyJ".utf8) }),
            ("no-payload", "The request has no notification.", Self.forged, { Array("{}".utf8) }),
            ("empty-payload", "The notification is empty.", Self.forged, { Array(#"{"signedPayload":""}"#.utf8) }),
            (
                "truncated-json", "The request ends in the middle.", Self.forged,
                { Array(#"{"signedPayload":"eyJ"#.utf8) }
            ),
            (
                "deeply-nested-json", "The notification is 100,000 nested arrays.", Self.forged,
                {
                    Array(#"{"signedPayload":"#.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
                        + [UInt8](repeating: UInt8(ascii: "]"), count: 100_000) + Array("}".utf8)
                }
            ),
        ]
        return bodies.map { name, explanation, expectation, body in
            Attack(
                name: "notification request: \(name)", explanation: explanation, target: .notifications,
                expectation: expectation, body: { body() })
        }
    }

    private func notification(
        _ name: String, _ explanation: String, _ expectation: Attack.Expectation,
        _ payload: @escaping @Sendable () throws -> String
    ) -> Attack {
        Attack(
            name: "notification: \(name)", explanation: explanation, target: .notifications, expectation: expectation
        ) { ClaimValue.object([Claim("signedPayload", .string(try payload()))]).json }
    }

    private static let forged = Attack.Expectation.answered([400])

    private static func expectation(of fault: SignedPayloadFault) -> Attack.Expectation {
        switch fault {
        // The certificates and the header are genuine.
        case .foreignSignature, .flippedSignatureByte, .reusedSignature, .derSignature, .longSignature, .zeroSignature,
            .flippedPayloadByte, .editedClaims, .truncated, .fourthPart, .nestedDataOfAnotherApp:
            forged
        case .wrongBundleID, .missingBundleID, .xcodeEnvironment: .answered([400, 404])
        case .oversized: .answered([400, 413])
        // The signature is genuine, so a form that nobody knows may be Apple's next one.
        case .deeplyNested: .answered([400, 413, 503])
        default: .answered([400, 503])
        }
    }
}

extension AttackEvidence {
    func notificationTemplate(_ number: Int) -> NotificationTemplate {
        var template = NotificationTemplate(
            notificationType: "ONE_TIME_CHARGE", transaction: signedTransactionTemplate(number))
        template.data?.appAppleID = appAppleID
        return template
    }

    func notification(_ number: Int, fault: SignedPayloadFault? = nil) throws -> String {
        try SignedPayloadEncoder(authority: authority).encode(notificationTemplate(number), fault: fault)
    }

    /// A notification around any texts.
    func notification(transaction: String, renewalInfo: String? = nil, environment: String? = nil) throws -> String {
        var data = [
            Claim("appAppleId", .integer(appAppleID)), Claim("bundleId", .string(bundleID)),
            Claim("bundleVersion", .string("1")), Claim("environment", .string(environment ?? self.environment)),
            Claim("signedTransactionInfo", .string(transaction)),
        ]
        if let renewalInfo { data.append(Claim("signedRenewalInfo", .string(renewalInfo))) }
        let uuid = UUID(derivedFrom: "attack|\(transaction)").uuidString.lowercased()
        return try signed(
            RawPayload(
                signingDate: date,
                extra: [
                    Claim("notificationType", .string("DID_RENEW")), Claim("notificationUUID", .string(uuid)),
                    Claim("data", .object(data)), Claim("version", .string("2.0")),
                    Claim("signedDate", .integer(Int64(date.timeIntervalSince1970) * 1000)),
                ]))
    }

    func sandboxTransaction(_ number: Int) throws -> String {
        var template = signedTransactionTemplate(number)
        template.environment = sandbox
        return try signed(template)
    }

    func signed(_ template: some SignedPayloadTemplate) throws -> String {
        try SignedPayloadEncoder(authority: authority).encode(template)
    }

    /// A JWS whose claims, or whose header, were changed after it was signed.
    static func edited(_ jws: String, part: Int = 1, _ change: (String) -> String) -> String {
        var parts = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else { return jws }
        var base64 = parts[part].replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let bytes = Data(base64Encoded: base64) else { return jws }
        parts[part] = Data(change(String(decoding: bytes, as: UTF8.self)).utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return parts.joined(separator: ".")
    }

    /// Signed data with any claims.
    private struct RawPayload: SignedPayloadTemplate {
        let signingDate: Date?
        var dateStyle = ClaimDateStyle.wholeMilliseconds
        var extra: [Claim]

        func claims(signing sign: (any SignedPayloadTemplate) throws -> String) rethrows -> [Claim] { extra }
    }
}
