import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("Evidence from Foundation")
struct DataTests {
    @Test("3 Data and an array of bytes are verified alike, or fail alike")
    func alike() {
        let verifier = PurchaseVerifier()
        for bytes in [[], [0x30], Array("a.b.c".utf8), Array(repeating: 0x41, count: 64)] {
            let code = Self.code { () throws(VerificationError) in try verifier.verify(bytes, policies: []) }
            #expect(code != nil)
            #expect(
                Self.code { () throws(VerificationError) in try verifier.verify(Data(bytes), policies: []) } == code)
        }
    }

    private static func code(_ verify: () throws(VerificationError) -> VerifiedEvidence) -> ReasonCode? {
        do throws(VerificationError) {
            _ = try verify()
            return nil
        } catch {
            return error.code
        }
    }
}
