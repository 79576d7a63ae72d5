import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

/// `==` and the hash of `String` take quadratic time for text that Unicode must reorder: 180 kB in one claim took 8
/// seconds, in a member name half a minute. The evidence here is signed by a trusted authority, so that every check is
/// reached.
@Suite("The cost of hostile text is linear in its bytes")
struct HostileTextTests {
    /// One character of this many bytes, whose marks must be reordered.
    private static func marks(_ bytes: Int) -> String { "e" + String(repeating: "\u{301}\u{316}", count: bytes / 4) }

    private static let policies: [any PurchasePolicy] = [
        EnvironmentPolicy(accepting: [.production, .sandbox, .other("Elsewhere")]), BundleIDPolicy("com.example.app"),
        ApplicationVersionPolicy("7"), AppAppleIDPolicy(1),
        FreshnessPolicy(at: AppStoreTime(MintedWorld.moment), limit: 0),
        UnseenTransactionPolicy { $0.isSame(as: "1") },
        TransactionPolicy(TransactionFacts(transactionID: "1", productID: "coins")),
        DeviceHashPolicy(DeviceIdentifier(identifierForVendor: MintedWorld.device)),
    ]

    private static let claims: [(String, [String: String])] = [
        ("transactionId", ClaimsText.transaction), ("originalTransactionId", ClaimsText.transaction),
        ("bundleId", ClaimsText.transaction), ("productId", ClaimsText.transaction), ("type", ClaimsText.transaction),
        ("environment", ClaimsText.transaction), ("offerDiscountType", ClaimsText.transaction),
        ("unknown", ClaimsText.transaction), ("deviceVerification", ClaimsText.transaction),
        ("deviceVerificationNonce", ClaimsText.transaction), ("receiptType", ClaimsText.appTransaction),
        ("applicationVersion", ClaimsText.appTransaction), ("notificationType", ClaimsText.notification),
        ("autoRenewProductId", ClaimsText.renewalInfo),
    ]

    /// Evidence by the field that holds the text.
    struct Field: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (String) throws -> [UInt8]

        init(_ name: String, _ make: @escaping @Sendable (String) throws -> [UInt8]) {
            testDescription = name
            self.make = make
        }
    }

    private static let fields: [Field] = values + names + headers + lists + others

    private static let values: [Field] = claims.map { name, claims in
        Field("claim \(name)") { try signed(claims, [name: "\"\($0)\""]) }
    }

    private static let names: [Field] = [
        Field("claim's name") { try signed(ClaimsText.transaction, [$0: "1"]) },
        Field("claim's name inside") { try signed(ClaimsText.transaction, ["more": "{\"\($0)\":1}"]) },
        Field("external purchase") {
            try signed(ClaimsText.notification, ["externalPurchaseToken": "{\"externalPurchaseId\":\"\($0)\"}"])
        },
    ]

    private static let headers: [Field] = [
        Field("header's name") { try headed(try HandmadeJWS.header(more: ",\"\($0)\":1")) },
        Field("header's algorithm") { try headed(try HandmadeJWS.header(alg: "\"\($0)\"")) },
    ]

    private static let lists: [Field] = [
        Field("list's key") { try list("\"\($0)\" = \"1\";") },
        Field("list's environment") { try list("\"environment\" = \"\($0)\";") },
        Field("list's value") { try list("\"pod\" = \"\($0)\";") },
        Field("purchase info's key") { try purchaseInfo("\"\($0)\" = \"1\";") },
        Field("purchase info's value") { try purchaseInfo("\"more\" = \"\($0)\";") },
        Field("purchase info's app") { try purchaseInfo("\"bid\" = \"\($0)\";") },
        Field("purchase info's flag") { try purchaseInfo("\"is-trial-period\" = \"\($0)\";") },
        Field("purchase info's device") { try purchaseInfo("\"unique-identifier\" = \"\($0)\";") },
    ]

    private static let others: [Field] = [
        Field("receipt's bundle id") {
            var template = MintedWorld.receipt()
            template.bundleID = $0
            return try MintedWorld.mint(template)
        },
        Field("text that is not base64") { Array("MIIB\($0)".utf8) },
    ]

    private static func signed(_ claims: [String: String], _ changes: [String: String?]) throws -> [UInt8] {
        try HandmadeJWS(ClaimsText.object(claims, changes)).bytes()
    }

    private static func headed(_ header: String) throws -> [UInt8] {
        try HandmadeJWS(ClaimsText.object(ClaimsText.transaction), header: header).bytes()
    }

    private static func list(_ entry: String) throws -> [UInt8] {
        var receipt = try HandmadeTransactionReceipt(.four)
        receipt.unsigned = entry
        return try receipt.bytes()
    }

    private static func purchaseInfo(_ entry: String) throws -> [UInt8] {
        let usual = #""purchase-date-ms"="1700000000000";"transaction-id"="1";"product-id"="coins";"#
        return try HandmadeTransactionReceipt(.four, purchaseInfo: "{\(usual)\(entry)}").bytes()
    }

    @Test("Sixteen times the text takes far less than 256 times the time", arguments: fields)
    func growth(_ field: Field) throws {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let verifier = PurchaseVerifier(anchors: anchors)
        func seconds(_ bytes: Int) throws -> Double {
            let evidence = try field.make(Self.marks(bytes))
            return (0..<3).map { _ in
                Self.processorSeconds {
                    _ = Result { try verifier.verify(evidence, policies: Self.policies) }
                    _ = verifier.inspect(evidence, policies: Self.policies)
                }
            }.min() ?? 0
        }
        // Before, 11 kB took 10 ms of a core and 176 kB took seconds.
        let (short, long) = (try seconds(11 << 10), try seconds(11 << 14))
        #expect(long < 100 * short, "\(field.testDescription): \(short) and \(long) s")
    }

    /// The processor time of this thread in seconds, so that other load does not count.
    private static func processorSeconds(_ body: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        body()
        return now() - start
    }
}
