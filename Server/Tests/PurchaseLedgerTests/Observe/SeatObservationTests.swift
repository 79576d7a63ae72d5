import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The seats that signed transactions state.
@Suite("Observation of seats")
struct SeatObservationTests {
    private func seats(_ claims: [Claim]) throws -> SeatFacts? {
        var template = MintedWorld.transaction()
        template.quantity = 3
        template.extra = claims
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let verified = try PurchaseVerifier(anchors: anchors).verify(MintedWorld.mint(template), policies: [])
        return try #require(Observation(verified).transactionFacts.first).seats
    }

    @Test("33.3 Each of the two claims about seats alone makes a transaction one of seats")
    func claims() throws {
        let info = Claim("multiSeatInfo", .object([Claim("revokedSeatQuantity", .integer(1))]))
        let reason = Claim("additionalTransactionReason", .string("SEAT_ADDITION"))
        #expect(try seats([]) == nil)
        #expect(try seats([info])?.remaining == 2)
        #expect(try seats([reason])?.additionReason == "SEAT_ADDITION")
        #expect(try seats([info, reason])?.remaining == 2)
    }
}
