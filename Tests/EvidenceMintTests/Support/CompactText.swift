import Foundation
import Testing

/// The parts of a compact JWS, parsed without code of the simulator.
struct CompactText {
    let header: [UInt8]
    let payload: [UInt8]
    let signature: [UInt8]
    /// The bytes that the signature covers.
    let signedBytes: [UInt8]

    init(_ text: String) throws {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        header = try Self.bytes(parts[0])
        payload = try Self.bytes(parts[1])
        signature = try Self.bytes(parts[2])
        signedBytes = Array((parts[0] + "." + parts[1]).utf8)
    }

    var headerText: String { String(decoding: header, as: UTF8.self) }
    var payloadText: String { String(decoding: payload, as: UTF8.self) }

    func headerMembers() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(header)) as? [String: Any])
    }

    func claims() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any])
    }

    /// The certificates of `x5c`.
    func certificates() throws -> [[UInt8]] {
        let texts = try #require(try headerMembers()["x5c"] as? [String])
        return try texts.map { [UInt8](try #require(Data(base64Encoded: $0))) }
    }

    /// The signature in the form that OpenSSL expects: an ECDSA-Sig-Value of r and s.
    var derSignature: [UInt8] {
        func integer(_ octets: ArraySlice<UInt8>) -> [UInt8] {
            var content = Array(octets.drop { $0 == 0 })
            if content.first.map({ $0 >= 0x80 }) ?? true { content.insert(0, at: 0) }
            return [0x02, UInt8(content.count)] + content
        }
        let half = signature.count / 2
        let content = integer(signature.prefix(half)) + integer(signature.suffix(half))
        return [0x30, UInt8(content.count)] + content
    }

    private static func bytes(_ text: String) throws -> [UInt8] {
        try #require(!text.contains("=") && !text.contains("+") && !text.contains("/"))
        var base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        return [UInt8](try #require(Data(base64Encoded: base64)))
    }
}
