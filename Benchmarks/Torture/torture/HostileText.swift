import EvidenceMint
import Foundation
import HostileBytes
import PurchaseVerification

/// The cost of a byte of hostile text, in each field and from 1 kB to 1 MB: it must not grow with the length.
enum Growth {
    /// Signed payloads have at most 384 KiB including base64, of which 160 kB of claims take more than half.
    private static let sizes = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 160 << 10, 1 << 20]
    /// A byte may cost this many times its cost at a smaller size. Quadratic cost grows fourfold from column to column,
    /// and 64-fold from 16 kB to 1 MB; the rest allows for caches and page faults.
    private static let limit = 8.0
    /// Below this, the time of a call is noise.
    private static let noise = 2e-4

    static func run(_ store: EvidenceSamples) throws -> Bool {
        print("\n## Growth: nanoseconds of a core for each byte of hostile text, verified and inspected\n")
        print("| field | \(sizes.map { "\($0 >> 10) kB" }.joined(separator: " | ")) | verdict |")
        print("|---|\(sizes.map { _ in "---:" }.joined(separator: "|"))|---|")
        let fields = HostileText.all(store)
        guard fields.count > 20 else {
            print("VIOLATED: only \(fields.count) fields were tried")
            return false
        }
        var holds = true
        for field in fields { holds = row(field, store) && holds }
        return holds
    }

    /// Every comparison that a caller can request is made.
    private static let policies: [any PurchasePolicy] = [
        EnvironmentPolicy(accepting: [.production, .sandbox, .other("Elsewhere")]), BundleIDPolicy("com.example.app"),
        ApplicationVersionPolicy("1"), TransactionPolicy(TransactionFacts(transactionID: "1", productID: "a")),
        DeviceHashPolicy(DeviceIdentifier(bytes: [UInt8](repeating: 1, count: 16))),
    ]

    private static func row(_ field: HostileText, _ store: EvidenceSamples) -> Bool {
        var perByte: [Double] = []
        var verdict = ""
        var isLinear = true
        for size in sizes {
            let evidence = field.evidence(size)
            let seconds = best(evidence, store, &verdict)
            let each = seconds / Double(size)
            // The first column is mostly the fixed cost of any evidence.
            let smallest = perByte.dropFirst().min() ?? each
            if seconds > noise, each > limit * smallest { isLinear = false }
            perByte.append(each)
            // If the cost is not linear, further columns would take minutes.
            if seconds > 5 { break }
        }
        let columns = sizes.indices.map { $0 < perByte.count ? String(format: "%.1f", perByte[$0] * 1e9) : "…" }
        print(
            "| \(field.field) | \(columns.joined(separator: " | ")) | \(verdict)\(isLinear ? "" : ", VIOLATED: not linear") |"
        )
        return isLinear
    }

    private static func best(_ evidence: [UInt8], _ store: EvidenceSamples, _ verdict: inout String) -> Double {
        let verifier = store.trust.freshVerifier
        var best = Double.infinity
        for _ in 0..<5 {
            let seconds = CostMeasurement.processorSeconds {
                verdict = Verdict(verifier, evidence).code
                _ = verifier.inspect(evidence, policies: policies)
            }
            best = min(best, seconds)
            if seconds > 1 { break }
        }
        return best
    }
}

/// Evidence with hostile text in one field: alternating combining marks, which Unicode must reorder before it can
/// compare them. `==` and the hash of `String` take quadratic time for that.
struct HostileText {
    /// The field that holds the text.
    let field: String
    /// Evidence with this many bytes of hostile text.
    let evidence: @Sendable (Int) -> [UInt8]

    init(_ field: String, _ evidence: @escaping @Sendable (Int) -> [UInt8]) {
        self.field = field
        self.evidence = evidence
    }

    /// One for each field that a sender controls without a signature.
    static func all(_ store: EvidenceSamples) -> [HostileText] { json + lists(store) + certificates(store) }

    /// The number of bytes that one character takes.
    static func marks(_ bytes: Int) -> String {
        "e" + String(repeating: "\u{301}\u{316}", count: max(1, bytes / 4))
    }

    private static let claims = "\"transactionId\":\"1\",\"bundleId\":\"a\",\"signedDate\":1700000000000"
    private static let header = "\"x5c\":[\"AAAA\",\"AAAA\",\"AAAA\"]"

    private static func jws(header: String = "\"alg\":\"ES256\",\(header)", claims: String = claims) -> [UInt8] {
        LooseJWS(
            header: Array("{\(header)}".utf8), payload: Array("{\(claims)}".utf8),
            signature: [UInt8](repeating: 1, count: 64)
        ).bytes
    }

    private static let json: [HostileText] = headers + claimNames + claimValues + notifications

    private static let headers: [HostileText] = [
        HostileText("header, member name") { jws(header: "\"alg\":\"ES256\",\(header),\"\(marks($0))\":1") },
        HostileText("header, alg") { jws(header: "\"alg\":\"\(marks($0))\",\(header)") },
        HostileText("header, kid") { jws(header: "\"alg\":\"ES256\",\(header),\"kid\":\"\(marks($0))\"") },
        HostileText("header, x5c") {
            jws(header: "\"alg\":\"ES256\",\"x5c\":[\"\(marks($0))\",\"AAAA\",\"AAAA\"]")
        },
    ]

    private static let claimNames: [HostileText] = [
        HostileText("claims, member name") { jws(claims: "\(claims),\"\(marks($0))\":1") },
        HostileText("claims, member name inside") { jws(claims: "\(claims),\"more\":{\"\(marks($0))\":1}") },
        HostileText("claims, two member names") { size in
            let name = marks(size / 2)
            return jws(claims: "\(claims),\"\(name)a\":1,\"\(name)b\":1")
        },
        HostileText("claims, many member names") { jws(claims: "\(claims),\"more\":{\(names($0))}") },
    ]

    private static let claimValues: [HostileText] =
        ["more", "environment", "type", "productId", "deviceVerification"].map { name in
            HostileText("claims, \(name)") { jws(claims: "\(claims),\"\(name)\":\"\(marks($0))\"") }
        } + [
            HostileText("claims, bundle id") {
                jws(claims: "\"bundleId\":\"\(marks($0))\",\"signedDate\":1700000000000")
            },
            HostileText("claims, number") {
                jws(claims: "\(claims),\"price\":\(String(repeating: "1", count: $0))")
            },
        ]

    private static let notifications: [HostileText] = [
        HostileText("notification, token") { size in
            let token = "{\"externalPurchaseId\":\"\(marks(size))\"}"
            return jws(claims: "\"notificationType\":\"A\",\"signedDate\":1,\"externalPurchaseToken\":\(token)")
        },
        HostileText("notification, nested") { size in
            let data = "{\"signedTransactionInfo\":\"\(marks(size))\"}"
            return jws(claims: "\"notificationType\":\"A\",\"data\":\(data)")
        },
    ]

    /// Members of one object with different names.
    private static func names(_ size: Int) -> String {
        (0..<max(1, size / 12)).map { "\"\(1_000_000 + $0)\":0" }.joined(separator: ",")
    }

    private static func lists(_ store: EvidenceSamples) -> [HostileText] {
        let genuine = (try? store.transactionReceipts())?.first.flatMap { LooseTransactionReceipt($0.bytes) }
        @Sendable func outer(_ entry: String) -> [UInt8] {
            guard let genuine else { return [] }
            return Array(String(decoding: genuine.bytes, as: UTF8.self).dropLast().utf8) + Array((entry + "}").utf8)
        }
        @Sendable func inner(_ entries: String) -> [UInt8] {
            var receipt = genuine
            receipt?.purchaseInfo = Array("{\"purchase-date-ms\"=\"1700000000000\";\(entries)}".utf8)
            return receipt?.bytes ?? []
        }
        let usual = "\"transaction-id\"=\"1\";\"product-id\"=\"a\";"
        let unsigned = [
            HostileText("list, key") { outer("\"\(marks($0))\" = \"1\";") },
            HostileText("list, environment") { outer("\"environment\" = \"\(marks($0))\";") },
            HostileText("list, pod") { outer("\"pod\" = \"\(marks($0))\";") },
            HostileText("text that is not base64") { Array("MIIB\(marks($0))".utf8) },
        ]
        let names = ["more", "bid", "bvrs", "unique-identifier", "quantity", "expires-date", "is-trial-period"]
        let signed = [
            HostileText("purchase info, key") { inner("\(usual)\"\(marks($0))\"=\"1\";") },
            HostileText("purchase info, transaction") {
                inner("\"transaction-id\"=\"\(marks($0))\";\"product-id\"=\"a\";")
            },
            HostileText("purchase info, product") {
                inner("\"transaction-id\"=\"1\";\"product-id\"=\"\(marks($0))\";")
            },
        ]
        let others = names.map { name in
            HostileText("purchase info, \(name)") { inner("\(usual)\"\(name)\"=\"\(marks($0))\";") }
        }
        return unsigned + signed + others
    }

    /// The names of a leaf, which a message shows. A certificate has at most 16 KiB, and larger ones are refused.
    private static func certificates(_ store: EvidenceSamples) -> [HostileText] {
        let leaf = store.authority.signedPayload.leaf.certificate
        return [
            HostileText("certificate, subject") { size in
                guard var tree = DERTree(leaf) else { return [] }
                let text = DERTree(tag: 0x0C, content: Array(marks(size).utf8))
                let type = DERTree(tag: 0x06, content: [0x55, 0x04, 0x03])
                let name = DERTree(
                    tag: 0x30,
                    children: [DERTree(tag: 0x31, children: [DERTree(tag: 0x30, children: [type, text])])])
                tree.children[0].children[5] = name
                return LooseJWS(
                    header: LooseJWS.header([tree.bytes, leaf, leaf]), payload: Array("{\(claims)}".utf8),
                    signature: [UInt8](repeating: 1, count: 64)
                ).bytes
            }
        ]
    }
}
