import Foundation
import PurchaseAPI
import Testing

/// The messages of restores, events and operators.
@Suite("Messages of purchases")
struct PurchaseMessageTests {
    private static let rule = RequestMembers.IdentifierRule("at most 16 bytes") { $0.utf8.count <= 16 }

    private func read<Message: RequestMessage>(
        _: Message.Type, _ json: String
    ) -> (message: Message, flaw: RequestMembers.Flaw?) {
        var members = RequestMembers(json: Array(json.utf8), identifiers: Self.rule)
        let message = Message(members: &members)
        return (message, members.flaw)
    }

    private func requireSame<Message: RequestMessage & Codable & Equatable>(_ message: Message) throws {
        let data = try JSONEncoder().encode(message)
        let (received, flaw) = read(Message.self, String(decoding: data, as: UTF8.self))
        #expect(flaw == nil && received == message)
        #expect(try JSONDecoder().decode(Message.self, from: data) == message)
    }

    @Test("A server reads each request as its client wrote it")
    func requests() throws {
        try requireSame(RestoreRequest(customerID: "a", receiptData: "MIIT"))
        try requireSame(RestoreRequest(customerID: "a", signedTransactions: ["e30.e30.e30", "ä"]))
        try requireSame(
            RestoreRequest(
                customerID: "a", receiptData: "MIIT", appTransaction: "e30.e30.e30", requested: true, guest: false,
                account: true))
        try requireSame(
            PurchaseRequest(receiptData: "MIIT", productID: "p", transactionID: "1", guest: true, account: false))
        try requireSame(OrderRequest(customerID: "a", productID: "p", environment: .sandbox))
        try requireSame(
            GrantRequest(
                productID: "p", quantity: 2, environment: .production, until: "2030-01-01T00:00:00Z",
                reason: "für Ärger"))
        try requireSame(RevocationRequest(transactionID: "1", environment: .sandbox, reason: "r"))
        try requireSame(RevocationRequest(grantID: "1", reason: "r"))
        try requireSame(MergeRequest(into: "b"))
        try requireSame(MergeRequest(into: "b", reason: "r"))
        try requireSame(AccountTokenRequest(appAccountToken: "1"))
        try requireSame(MoveRequest(customerID: "b", environment: .sandbox, reason: "r"))
        try requireSame(TesterRequest(reason: "r"))
        #expect(read(TesterRequest.self, "").flaw == nil)
    }

    @Test("A hundred signed transactions are read; zero, more, and values of other types are refused")
    func lists() {
        for (count, isRead) in [(0, false), (1, true), (100, true), (101, false)] {
            let list = repeatElement("\"x\"", count: count).joined(separator: ",")
            let (message, flaw) = read(RestoreRequest.self, #"{"customer_id":"a","signed_transactions":[\#(list)]}"#)
            #expect((flaw == nil) == isRead)
            #expect(message.signedTransactions?.count == (isRead ? count : nil))
        }
        for value in ["7", "true", "{}", #"["x",null]"#, #"["x",7]"#, #"["x",["y"]]"#, #""x""#] {
            let (_, flaw) = read(RestoreRequest.self, #"{"customer_id":"a","signed_transactions":\#(value)}"#)
            #expect(
                flaw == .malformed("signed_transactions", expected: "a list of 1 to 100 strings"), "\(value)")
        }
    }

    @Test("A reason has 1 to 500 characters, no control characters, and is not only white space")
    func reasons() {
        for (text, isReason) in [
            ("r", true), ("für Ärger", true), (String(repeating: "ä", count: 500), true), ("", false),
            (" \u{A0}", false),
            (String(repeating: "ä", count: 501), false), ("a\nb", false), ("a\u{0}", false), ("a\u{85}b", false),
        ] {
            #expect(RequestMembers.isReason(text) == isReason, "\(text.debugDescription)")
        }
    }

    @Test("Unknown values are kept in every answer, and do not finish a transaction")
    func unknownWords() throws {
        let json = #"""
            {"id":"evt_1","type":"new_kind","at":"2026-01-01T00:00:00Z","app":"a","entry_id":"1","environment":"Moon","else":1}
            """#
        let event = try JSONDecoder().decode(EventMessage.self, from: Data(json.utf8))
        #expect(event.type.rawValue == "new_kind" && event.environment?.rawValue == "Moon")
        #expect(try JSONDecoder().decode(EventMessage.self, from: JSONEncoder().encode(event)) == event)
        let document = ProblemDocument(
            title: "Conflict", status: 409, code: "already_claimed", disposition: Disposition(rawValue: "wait"),
            claimedBy: PriorClaim(rawValue: "a_ghost"), verdict: .rejected, submissionID: "1", leafHash: "ab")
        let read = try JSONDecoder().decode(ProblemDocument.self, from: Data(document.json()))
        #expect(read == document && read.disposition?.finishesTransaction == false)
        #expect(Disposition.granted.finishesTransaction && Disposition.refused.finishesTransaction)
        #expect(!Disposition.retry.finishesTransaction && !Disposition.operator.finishesTransaction)
    }
}
