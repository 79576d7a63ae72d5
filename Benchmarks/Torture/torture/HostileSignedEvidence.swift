import EvidenceMint
import Foundation
import HostileBytes
import PurchaseVerification

/// The most expensive known transaction receipts and signed data, each built against one part of the core.
enum HostileSignedEvidence {
    /// The budget of the core for all evidence, and for signed data.
    private static let (size, jwsSize) = (16 << 20, 3 << 17)

    static func all(_ store: EvidenceSamples) throws -> [(name: String, evidence: [UInt8])] {
        try lists(store) + claims() + headers(store)
    }

    private static func lists(_ store: EvidenceSamples) throws -> [(String, [UInt8])] {
        func list(_ entries: Int, _ key: Int, _ value: String, times: Int) -> [UInt8] {
            let body = (0..<entries).map { number in
                let name = "\(number)" + String(repeating: "k", count: key)
                return "\"\(name)\" = \"\(String(repeating: value, count: times))\";"
            }
            return Array("{\(body.joined())}".utf8)
        }
        var receipt = try store.transactionReceipts().first.flatMap { LooseTransactionReceipt($0.bytes) }
        receipt?.purchaseInfo = list(64, 60_000, "v", times: 1000)
        var field = receipt
        field?.field = [4] + [UInt8](repeating: 0x55, count: 10 << 20)
        return [
            ("a list of 64 keys of 64 KB", list(64, 1 << 16, "v", times: 1)),
            ("a list of 64 keys of 64 KB that differ at their ends", alike()),
            ("a list of 64 values of 250 KB", list(64, 1, "v", times: 250_000)),
            ("a list with a value of 16 MB", list(1, 1, "v", times: size - 64)),
            ("a list of escapes", list(1, 1, "\\\"", times: size / 2 - 64)),
            ("a list of code points", list(1, 1, "\\U00e9", times: size / 6 - 64)),
            ("a list of UTF-8", list(1, 1, "é", times: size / 2 - 64)),
            ("a list of white space", Array("{".utf8) + [UInt8](repeating: 0x20, count: size - 2)),
            ("a list of quotes", [UInt8](repeating: UInt8(ascii: "{"), count: 1) + many("\"\"=\"\";", size - 8)),
            ("purchase info of 64 keys of 64 KB", receipt?.bytes ?? []),
            ("a signature field of 10 MB", field?.bytes ?? []),
        ]
    }

    /// Keys that differ only in the last characters, so that each comparison reads all of them.
    private static func alike() -> [UInt8] {
        let body = (10..<74).map { "\"\(String(repeating: "k", count: 1 << 16))\($0)\" = \"\";" }
        return Array("{\(body.joined())}".utf8)
    }

    private static func claims() -> [(String, [UInt8])] {
        let room = jwsSize * 3 / 4 - 256
        func closed(_ start: String, _ unit: String, _ end: String) -> String {
            start + String(repeating: unit, count: (room - start.utf8.count - end.utf8.count) / unit.utf8.count) + end
        }
        let names = (0..<(room / 16)).map { "\"\(1_000_000 + $0)\":0" }.joined(separator: ",")
        let same = closed("{\"bundleId\":0", ",\"bundleId\":0", "}")
        return [
            ("claims of [", String(repeating: "[", count: room)),
            ("claims of {", closed("", "{\"a\":", "")),
            ("claims of [ in a claim", closed("{\"bundleId\":\"a\",\"signedDate\":1,\"a\":", "[", "")),
            ("claims of 500 [", closed("{\"a\":", "[[[[[[[[[[", "").prefix(505) + "0"),
            ("4,000 objects 15 levels down", "{\"bundleId\":\"a\",\"a\":\(deep(14, wide: 4000))}"),
            ("40,000 objects 400 levels down", "{\"bundleId\":\"a\",\"a\":\(deep(400, wide: 40_000))}"),
            ("claims of numbers", closed("{\"bundleId\":\"a\",\"a\":[1", ",1", "]}")),
            ("claims of numbers with fractions", closed("{\"bundleId\":\"a\",\"a\":[1", ",1e-9", "]}")),
            ("claims of empty objects", closed("{\"bundleId\":\"a\",\"a\":[{}", ",{}", "]}")),
            ("claims of empty strings", closed("{\"bundleId\":\"a\",\"a\":[\"\"", ",\"\"", "]}")),
            ("claims of one long string", closed("{\"bundleId\":\"a\",\"a\":\"", "s", "\"}")),
            ("claims of one long bundle id", closed("{\"bundleId\":\"", "s", "\"}")),
            ("claims of escapes", closed("{\"bundleId\":\"", "\\u0041", "\"}")),
            ("claims of one long number", closed("{\"bundleId\":\"a\",\"signedDate\":1", "0", "}")),
            ("\(room / 16) claims", "{\"bundleId\":\"a\",\"signedDate\":1,\(names)}"),
            ("one claim again and again", same),
        ].map { ($0, jws(String($1))) }
    }

    /// Many empty objects in nested lists of one element: the deeper a value, the longer the coding path that the
    /// library records for it.
    private static func deep(_ levels: Int, wide: Int) -> String {
        let objects = [String](repeating: "{}", count: wide).joined(separator: ",")
        return String(repeating: "[", count: levels) + objects + String(repeating: "]", count: levels)
    }

    private static func headers(_ store: EvidenceSamples) throws -> [(String, [UInt8])] {
        let payload = Array("{\"bundleId\":\"a\",\"transactionId\":\"1\",\"signedDate\":1700000000000}".utf8)
        let room = jwsSize * 3 / 4 - 512
        func header(_ text: String) -> [UInt8] {
            LooseJWS(header: Array(text.utf8), payload: payload, signature: [UInt8](repeating: 1, count: 64)).bytes
        }
        let certificate = store.authority.signedPayload.leaf.certificate
        let long = certificate + [UInt8](repeating: 0, count: room / 2)
        return [
            (
                "a header of certificates",
                header("{\"alg\":\"ES256\",\"x5c\":[\"\"\(many(",\"\"", room - 64) as String)]}")
            ),
            ("a header of [", header("{\"alg\":\"ES256\",\"x5c\":\(many("[", room - 64) as String)")),
            (
                "a header with a certificate of 400 KB",
                LooseJWS(
                    header: LooseJWS.header([long]), payload: payload, signature: [UInt8](repeating: 1, count: 64)
                ).bytes
            ),
            ("a text of dots", Array("eyJ".utf8) + [UInt8](repeating: UInt8(ascii: "."), count: size - 8)),
        ]
    }

    /// Signed data with these claims, well formed, without a valid signature.
    static func jws(_ claims: String) -> [UInt8] {
        LooseJWS(
            header: Array("{\"alg\":\"ES256\"}".utf8), payload: Array(claims.utf8),
            signature: [UInt8](repeating: 1, count: 64)
        ).bytes
    }

    private static func many(_ unit: String, _ size: Int) -> String {
        String(repeating: unit, count: size / unit.utf8.count)
    }

    private static func many(_ unit: String, _ size: Int) -> [UInt8] { Array((many(unit, size) as String).utf8) }

    /// Ten times the size, about ten times the time: claims, the length of a claim, and the length of a list's value.
    static func growth(_ store: EvidenceSamples) throws -> Bool {
        print("\n| what grows tenfold | bytes | µs | bytes | µs | times |\n|---|---:|---:|---:|---:|---:|")
        let kinds: [(String, (Int) -> [UInt8])] = [
            (
                "claims",
                { count in
                    let names = (0..<count).map { "\"\(1_000_000 + $0)\":0" }.joined(separator: ",")
                    return jws("{\"bundleId\":\"a\",\"signedDate\":1,\(names)}")
                }
            ),
            ("one claim's text", { jws("{\"bundleId\":\"\(String(repeating: "s", count: $0 * 12))\"}") }),
            ("one claim's numbers", { jws("{\"bundleId\":\"a\",\"a\":[1\(String(repeating: ",1", count: $0))]}") }),
            ("a list's value", { Array("{\"signature\" = \"\(String(repeating: "s", count: $0 * 12))\";}".utf8) }),
        ]
        var holds = true
        for (name, make) in kinds {
            let sizes = [make(400), make(4_000)]
            let times = sizes.map { evidence in
                (0..<9).map { _ in
                    CostMeasurement.processorSeconds {
                        _ = store.trust.freshVerifier.inspect(evidence, policies: [])
                    } * 1e6
                }.min() ?? 0
            }
            let ratio = times[1] / times[0]
            holds = holds && ratio <= 20
            print(
                "| \(name) | \(sizes[0].count) | \(Int(times[0])) | \(sizes[1].count) | \(Int(times[1])) "
                    + "| \(String(format: "%.1f", ratio))\(ratio <= 20 ? "" : ", VIOLATED: not linear") |")
        }
        return holds
    }
}
