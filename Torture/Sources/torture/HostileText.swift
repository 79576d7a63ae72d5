import EvidenceMint
import Foundation
import HostileBytes
import PurchaseVerification

/// Evidence with hostile text in one field: alternating combining marks, which Unicode must reorder before it can compare them.
/// `==` and the hash of `String` take quadratic time for that.
struct HostileText {
    /// The field that holds the text.
    let field: String
    /// Evidence with so many bytes of hostile text.
    let evidence: @Sendable (Int) -> [UInt8]

    /// One for each field that a sender chooses and nobody has to sign.
    static func all(_ store: EvidenceSamples) -> [HostileText] { json + lists(store) + certificates(store) }

    /// So many bytes that stand for one character.
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

    private static let json: [HostileText] =
        [
            ("header, member name", { jws(header: "\"alg\":\"ES256\",\(header),\"\(marks($0))\":1") }),
            ("header, alg", { jws(header: "\"alg\":\"\(marks($0))\",\(header)") }),
            ("header, kid", { jws(header: "\"alg\":\"ES256\",\(header),\"kid\":\"\(marks($0))\"") }),
            ("header, x5c", { jws(header: "\"alg\":\"ES256\",\"x5c\":[\"\(marks($0))\",\"AAAA\",\"AAAA\"]") }),
            ("claims, member name", { jws(claims: "\(claims),\"\(marks($0))\":1") }),
            ("claims, member name inside", { jws(claims: "\(claims),\"more\":{\"\(marks($0))\":1}") }),
            (
                "claims, two member names",
                { jws(claims: "\(claims),\"\(marks($0 / 2))a\":1,\"\(marks($0 / 2))b\":1") }
            ),
            ("claims, many member names", { size in jws(claims: "\(claims),\"more\":{\(names(size))}") }),
            ("claims, unknown value", { jws(claims: "\(claims),\"more\":\"\(marks($0))\"") }),
            ("claims, environment", { jws(claims: "\(claims),\"environment\":\"\(marks($0))\"") }),
            ("claims, type", { jws(claims: "\(claims),\"type\":\"\(marks($0))\"") }),
            ("claims, product", { jws(claims: "\(claims),\"productId\":\"\(marks($0))\"") }),
            ("claims, bundle id", { jws(claims: "\"bundleId\":\"\(marks($0))\",\"signedDate\":1700000000000") }),
            ("claims, device", { jws(claims: "\(claims),\"deviceVerification\":\"\(marks($0))\"") }),
            ("claims, number", { jws(claims: "\(claims),\"price\":\(String(repeating: "1", count: $0))") }),
            (
                "notification, token",
                {
                    jws(
                        claims: "\"notificationType\":\"A\",\"signedDate\":1,\"externalPurchaseToken\":"
                            + "{\"externalPurchaseId\":\"\(marks($0))\"}")
                }
            ),
            (
                "notification, nested",
                {
                    jws(claims: "\"notificationType\":\"A\",\"data\":{\"signedTransactionInfo\":\"\(marks($0))\"}")
                }
            ),
        ].map { HostileText(field: $0, evidence: $1) }

    /// Members of one object, each with a name of its own.
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
        let fields: [(String, @Sendable (Int) -> [UInt8])] = [
            ("list, key", { outer("\"\(marks($0))\" = \"1\";") }),
            ("list, environment", { outer("\"environment\" = \"\(marks($0))\";") }),
            ("list, base64", { outer("\"pod\" = \"\(marks($0))\";") }),
            ("purchase info, key", { inner("\(usual)\"\(marks($0))\"=\"1\";") }),
            ("purchase info, unknown value", { inner("\(usual)\"more\"=\"\(marks($0))\";") }),
            ("purchase info, transaction", { inner("\"transaction-id\"=\"\(marks($0))\";\"product-id\"=\"a\";") }),
            ("purchase info, product", { inner("\"transaction-id\"=\"1\";\"product-id\"=\"\(marks($0))\";") }),
            ("purchase info, bundle id", { inner("\(usual)\"bid\"=\"\(marks($0))\";") }),
            ("purchase info, version", { inner("\(usual)\"bvrs\"=\"\(marks($0))\";") }),
            ("purchase info, device", { inner("\(usual)\"unique-identifier\"=\"\(marks($0))\";") }),
            ("purchase info, quantity", { inner("\(usual)\"quantity\"=\"\(marks($0))\";") }),
            ("purchase info, date", { inner("\(usual)\"expires-date\"=\"\(marks($0))\";") }),
            ("purchase info, flag", { inner("\(usual)\"is-trial-period\"=\"\(marks($0))\";") }),
            ("text that is not base64", { Array("MIIB\(marks($0))".utf8) }),
        ]
        return fields.map { HostileText(field: $0, evidence: $1) }
    }

    /// The names of a leaf, which a message shows. A certificate has at most 16 KiB, and larger ones are refused.
    private static func certificates(_ store: EvidenceSamples) -> [HostileText] {
        let leaf = store.authority.signedPayload.leaf.certificate
        let field = "certificate, subject"
        return [
            HostileText(field: field) { size in
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
