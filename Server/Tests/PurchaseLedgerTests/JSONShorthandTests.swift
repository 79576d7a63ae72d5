import Crypto
import Foundation
import PurchaseLedger
import TestSupport
import Testing

@Suite("The short form of journal details")
struct JSONShorthandTests {
    @Test("Any bytes are restored, even those that contain the bytes of fragments")
    func roundTrip() {
        var generator = SeededGenerator(seed: 3)
        let pieces =
            JSONShorthand.fragments + [
                Array("x".utf8), Array("\"".utf8), Array("{".utf8), Array("é\n".utf8), [0], [7], [31],
            ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0...12, using: &generator)
            let bytes = (0..<count).flatMap { _ in pieces.randomElement(using: &generator) ?? [] }
            #expect(JSONShorthand.expanded(JSONShorthand.shortened(bytes)) == bytes)
        }
    }

    @Test("Plain JSON is its own short form, so a database with plain details can be read")
    func plain() {
        let json = Array(#"{"a":1}"#.utf8)
        #expect(JSONShorthand.shortened(json) == json)
        #expect(JSONShorthand.expanded(json) == json)
    }

    @Test("The fragments never change, because stored entries need them")
    func fragments() {
        #expect(JSONShorthand.fragments.count == 31)
        #expect(JSONShorthand.fragments.allSatisfy { $0.allSatisfy { $0 >= 0x20 } })
        let digest = SHA256.hash(data: Array(JSONShorthand.fragments.joined(separator: [0])))
        #expect(
            digest.map { String(format: "%02x", $0) }.joined()
                == "21dae8885eb2ca79d1af1c0aa2907cf4fe21261c485c54ca195a508947a2b7b3")
    }
}
