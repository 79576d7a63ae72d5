import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

/// The whole decision, as a table: what is claimed, proven and known, and what is decided.
@Suite("The decision")
struct DecisionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: DecisionCode
        let decide: @Sendable (DecisionCase) throws -> PurchaseDecision
    }

    static let monthly = "com.example.app.monthly"
    static let pro = "com.example.app.pro"
    static let rows: [Row] = accepted + aboutEvidence + aboutOrders + aboutOwners

    static func row(
        _ name: String, _ code: DecisionCode, _ change: @escaping @Sendable (inout DecisionCase) throws -> Void
    ) -> Row {
        Row(testDescription: name, code: code) { original in
            var changed = original
            try change(&changed)
            return try changed.decision()
        }
    }

    @Test("The decision is the one of the table", arguments: rows)
    func table(row: Row) throws {
        switch try row.decide(DecisionCase()) {
        case .accept, .replay, .extend: #expect(row.code == .accepted)
        case .reject(let rejection): #expect(rejection.reason == .decision(row.code))
        }
    }

    /// These are decided before there is a claim, and tested where the request is read.
    static let ofTheRequest: Set<DecisionCode> = [.bodyMalformed, .bodyTooLarge, .fieldMalformed]

    @Test("Every code has a row")
    func complete() {
        let missing = DecisionCode.allCases.filter { code in
            !Self.ofTheRequest.contains(code) && !Self.rows.contains { $0.code == code }
        }
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test("Codes are unique, differ from the core's, and have a sentence and a status")
    func codes() {
        let codes = DecisionCode.allCases.map(\.rawValue) + ReasonCode.allCases.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        for code in DecisionCode.allCases {
            #expect(code.sentence.hasSuffix("."))
            #expect(code == .accepted ? code.status == 200 : (400..<500).contains(code.status))
        }
    }

    @Test("Evidence that is refused keeps the core's code and facts", arguments: ReceiptFault.allCases)
    func refused(fault: ReceiptFault) throws {
        let row = DecisionCase()
        let evidence = try MintedWorld.mint(fault: fault)
        do {
            _ = try LedgerWorld.verifier().verify(
                evidence,
                policies: [
                    EnvironmentPolicy(accepting: [.sandbox]), BundleIDPolicy("com.example.app"),
                ])
            Issue.record("the fault \(fault) passed")
        } catch let error as VerificationError {
            guard case .reject(let rejection) = PurchaseDecision.decide(row.claim, .refused(error), row.known) else {
                Issue.record("evidence with the fault \(fault) was accepted")
                return
            }
            #expect(rejection.code == error.code.rawValue)
            #expect(rejection.expected == error.expected && rejection.found == error.found)
            #expect(rejection.status == 422)
        }
    }

    @Test("The same claim by the same owner is replayed, with and without its order, and after its period ended")
    func replays() throws {
        var row = DecisionCase()
        row.known.recorded = row.recorded(order: "order")
        #expect(try row.decision() == .replay(row.recorded(order: "order")))
        row.order(.fulfilled)
        #expect(try row.decision() == .replay(row.recorded(order: "order")))
        row = DecisionCase()
        row.claim(Self.monthly, "2000000000000004")
        let period = row.recorded("2000000000000004")
        row.known.recorded = period
        row.known.now = Timestamp(MintedWorld.moment.addingTimeInterval(9_999_999))
        #expect(try row.decision() == .replay(period))
    }

    @Test("What is accepted says for whom, for which order, as what, and from whom it moves")
    func acceptance() throws {
        func acceptance(_ change: (inout DecisionCase) -> Void) throws -> Acceptance? {
            var row = DecisionCase()
            change(&row)
            guard case .accept(let acceptance) = try row.decision() else { return nil }
            return acceptance
        }
        let ordered = try #require(try acceptance { $0.order() })
        #expect(ordered.owner == "alice" && ordered.orderID == "order" && ordered.kind == .bought)
        #expect(ordered.purchase.quantity == 3 && ordered.product.kind == .consumable && ordered.movedFrom == nil)
        let renewed = try #require(
            try acceptance {
                $0.claim(Self.monthly, "2000000000000004")
                $0.known.originalOwner = "alice"
            })
        #expect(renewed.kind == .renewed)
        #expect(renewed.purchase.originalTransactionID == "2000000000000003")
        let moved = try #require(
            try acceptance {
                $0.claim(Self.pro, "2000000000000002")
                $0.known.originalOwner = "bob"
                $0.known.app.transfer = .move
            })
        #expect(moved.kind == .restored && moved.owner == "alice" && moved.movedFrom == "bob")
    }
}
