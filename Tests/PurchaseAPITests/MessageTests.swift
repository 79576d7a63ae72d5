import Foundation
import PurchaseAPI
import Testing

/// The messages of the API: the same bytes in both directions, and unknown values.
@Suite("Messages")
struct MessageTests {
    private static let rule = RequestMembers.IdentifierRule("at most 8 bytes") { $0.utf8.count <= 8 }

    /// A request as a server reads it, and its flaw.
    private func read<Message: RequestMessage>(
        _: Message.Type, _ json: String
    ) -> (message: Message, flaw: RequestMembers.Flaw?) {
        var members = RequestMembers(json: Array(json.utf8), identifiers: Self.rule)
        let message = Message(members: &members)
        return (message, members.flaw)
    }

    /// Does the same with the bytes that a client writes.
    private func sent<Message: RequestMessage & Encodable>(_ message: Message) throws -> Message {
        let json = String(decoding: try JSONEncoder().encode(message), as: UTF8.self)
        let (read, flaw) = read(Message.self, json)
        #expect(flaw == nil, "\(json)")
        return read
    }

    @Test("A server reads each request as its client wrote it, with all members and with the required ones only")
    func requests() throws {
        let order = OrderRequest(customerID: "a", productID: "p", quantity: 3, metadata: ["x": "ä"])
        #expect(try sent(order) == order)
        #expect(try sent(OrderRequest(customerID: "a", productID: "p")).quantity == nil)
        let purchase = PurchaseRequest(
            receiptData: "MIIT", productID: "p", transactionID: "1", orderID: "o", customerID: "c", quantity: 2)
        #expect(try sent(purchase) == purchase)
        let signed = PurchaseRequest(signedTransaction: "e30.e30.e30", productID: "p", transactionID: "1")
        #expect(try sent(signed) == signed)
        let consumption = ConsumptionRequest(
            productID: "p", quantity: 1, consumptionID: "1", environment: .sandbox)
        #expect(try sent(consumption) == consumption)
    }

    @Test(
        "The first wrong member is named, with the expected value",
        arguments: [
            (#"{}"#, RequestMembers.Flaw.missing("customer_id")),
            (#"{"customer_id":null}"#, .missing("customer_id")), (#"{"customer_id":""}"#, .missing("customer_id")),
            (#"{"customerId":"a"}"#, .misnamed("customerId", expected: "customer_id")),
            (#"{"customer-id":"a"}"#, .misnamed("customer-id", expected: "customer_id")),
            (#"{"customer_id":"a","productID":"p"}"#, .misnamed("productID", expected: "product_id")),
            (#"{"customer_id":7}"#, .malformed("customer_id", expected: "a string")),
            (#"{"customer_id":"123456789"}"#, .malformed("customer_id", expected: "at most 8 bytes")),
            (#"{"customer_id":"a"}"#, .missing("product_id")),
            (
                #"{"customer_id":"a","product_id":"p","quantity":0}"#,
                .malformed("quantity", expected: "a whole number from 1 to 1000000000")
            ),
            (
                #"{"customer_id":"a","product_id":"p","quantity":true}"#,
                .malformed("quantity", expected: "a whole number from 1 to 1000000000")
            ),
            (
                #"{"customer_id":"a","product_id":"p","metadata":{"a":1}}"#,
                .malformed(
                    "metadata",
                    expected: "an object of at most 20 strings, of at most 200 characters, with names of at most 40")
            ), ("[]", .notAnObject(bytes: 2)), ("{", .notAnObject(bytes: 1)),
        ])
    func flaws(json: String, flaw: RequestMembers.Flaw) {
        #expect(read(OrderRequest.self, json).flaw == flaw)
    }

    @Test("An empty body has no members, and unread members are not a flaw")
    func tolerance() {
        #expect(read(PurchaseRequest.self, "").flaw == nil)
        #expect(read(ConsumptionRequest.self, #"{"product_id":"p","else":[1]}"#).flaw == nil)
    }

    @Test("An unknown value is kept and written unchanged")
    func openEnumerations() throws {
        let json = #"{"product_id":"p","environment":"Moon","consumption_id":"1","quantity":1}"#
        let (consumption, flaw) = read(ConsumptionRequest.self, json)
        #expect(flaw == nil && consumption.environment?.rawValue == "Moon")
        let states = try JSONDecoder().decode([EntitlementMessage.State].self, from: Data(#"["active","new"]"#.utf8))
        #expect(states == [.active, EntitlementMessage.State(rawValue: "new")] && states[1] != .expired)
        #expect(String(decoding: try JSONEncoder().encode(states), as: UTF8.self) == #"["active","new"]"#)
        #expect(Set(states).contains(EntitlementMessage.State(rawValue: "new")))
        // Unicode treats these as equal; on the wire they are two names.
        #expect(EnvironmentName(rawValue: "\u{E9}") != EnvironmentName(rawValue: "e\u{301}"))
    }

    @Test("A problem document is read as it was written, with all members and with the required ones only")
    func problems() throws {
        for document in [
            ProblemDocument(title: "Conflict", status: 409, code: "already_claimed"),
            ProblemDocument(
                title: "Conflict", status: 409, code: "already_claimed", detail: "A \"sentence\".", expected: "a\nb",
                found: "ä", verdict: .rejected, replayed: false, submissionID: "1"),
        ] {
            let json = Data(document.json())
            #expect(try JSONDecoder().decode(ProblemDocument.self, from: json) == document)
            let encoded = try JSONDecoder().decode(ProblemDocument.self, from: try JSONEncoder().encode(document))
            #expect(encoded == document)
        }
    }

    @Test(
        "A megabyte of combining marks as the value of a flag counts as false", .timeLimit(.minutes(10)))
    func hostileFlag() throws {
        let marks = "e" + String(repeating: "\u{301}\u{316}", count: 1 << 18)
        let json = Array(#"{"receipt-data":"A","exclude-old-transactions":"\#(marks)"}"#.utf8)
        #expect(try !VerifyReceiptRequest(json: json, check: { _ in }).excludesOldTransactions)
    }
}
