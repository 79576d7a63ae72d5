import Foundation
import PurchaseVerification
import Testing
import TextFormats

@Suite("Base64")
struct Base64DecoderTests {
    /// Whether both ways to decode give this result.
    private func decodes(_ text: [UInt8], to expected: [UInt8]?) -> Bool {
        Base64Decoder.decode(text) == expected && Base64Decoder.decode(text, by: .table) == expected
    }

    @Test("Text of every length decodes to the encoded bytes")
    func lengths() {
        var random = SeededGenerator(seed: 1)
        for count in 0..<400 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(decodes(Array(Data(bytes).base64EncodedString().utf8), to: bytes))
        }
    }

    /// Foundation's result, except for padding with bytes after it, which Foundation accepts in some positions and RFC
    /// 4648 in none.
    private func expected(_ text: [UInt8]) -> [UInt8]? {
        let pad = UInt8(ascii: "=")
        if let first = text.firstIndex(of: pad), text[first...].contains(where: { $0 != pad }) { return nil }
        return Data(base64Encoded: Data(text)).map { [UInt8]($0) }
    }

    @Test("Every byte at every position is accepted or refused as by Foundation, except for padding inside")
    func everyByte() {
        // Without a block, with one, and with a second one after it.
        for count in [1, 2, 3, 20, 21, 22, 36, 60] {
            let text = Array(Data((0..<count).map { UInt8($0 * 37 & 0xFF) }).base64EncodedString().utf8)
            for offset in text.indices {
                for byte in UInt8.min...UInt8.max {
                    var changed = text
                    changed[offset] = byte
                    let text = String(decoding: changed, as: UTF8.self)
                    #expect(decodes(changed, to: expected(changed)), "\(text) at \(offset)")
                }
            }
        }
    }

    @Test("Every proper prefix is accepted or refused as by Foundation")
    func prefixes() {
        let text = Array(Data((0..<100).map { UInt8($0) }).base64EncodedString().utf8)
        for count in 0...text.count {
            let prefix = Array(text[..<count])
            #expect(decodes(prefix, to: expected(prefix)))
        }
    }
}
