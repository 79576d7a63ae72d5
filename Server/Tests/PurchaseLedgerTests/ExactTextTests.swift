import PurchaseLedger
import Testing

@Suite("Text from outside")
struct ExactTextTests {
    @Test("Texts are equal exactly if all their bytes are, whatever their length and the place of the difference")
    func equality() {
        for count in 0...40 {
            let bytes = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
            let text = ExactText(String(decoding: bytes, as: UTF8.self))
            #expect(text == ExactText(String(decoding: Array(bytes), as: UTF8.self)))
            #expect(text != ExactText(String(decoding: bytes + [UInt8(ascii: "a")], as: UTF8.self)))
            for place in bytes.indices {
                var other = bytes
                other[place] ^= 0x20
                #expect(text != ExactText(String(decoding: other, as: UTF8.self)), "byte \(place) of \(count)")
            }
        }
        #expect(ExactText("Zo\u{EB}") != ExactText("Zoe\u{308}"), "String calls them equal")
    }
}
