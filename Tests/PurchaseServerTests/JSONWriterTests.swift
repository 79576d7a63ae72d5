import Foundation
import PurchaseAPI
import Testing

@Suite("JSON")
struct JSONWriterTests {
    @Test("Every character survives a round trip through Foundation's reader")
    func strings() throws {
        var texts = (0..<0x250).compactMap { UnicodeScalar($0).map { "a\($0)b" } }
        texts += ["\"", "\\", "\\\"", "日本語", "👩‍👩‍👧", "\u{2028}\u{2029}", "", "</script>"]
        for text in texts {
            var json = JSONWriter()
            json.object { json in
                json.key("text")
                json.string(text)
            }
            let object = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: String]
            #expect(object?["text"] == text)
        }
    }

    @Test("Members stand in the order in which they were written, numbers as they are")
    func order() {
        var json = JSONWriter()
        json.object { json in
            json.key("z")
            json.number(UInt64.max)
            json.key("a")
            json.array([1, 2]) { $0.number($1) }
            json.key("m")
            json.object { _ in }
            json.key("n")
            json.null()
            json.key("b")
            json.boolean(false)
            json.key("e")
            json.array([Int]()) { $0.number($1) }
        }
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"z":18446744073709551615,"a":[1,2],"m":{},"n":null,"b":false,"e":[]}"#)
    }

    @Test("A request is read as clients write it")
    func request() throws {
        func read(_ text: String) throws -> VerifyReceiptRequest {
            try JSONDecoder().decode(VerifyReceiptRequest.self, from: Data(text.utf8))
        }
        #expect(
            try read(#"{"receipt-data":"A","password":"p"}"#) == VerifyReceiptRequest(receiptData: "A", password: "p"))
        for flag in ["true", "1", #""true""#, #""1""#] {
            #expect(try read(#"{"receipt-data":"A","exclude-old-transactions":\#(flag)}"#).excludesOldTransactions)
        }
        for flag in ["false", "0", "null", #""false""#, "[]"] {
            #expect(try !read(#"{"receipt-data":"A","exclude-old-transactions":\#(flag)}"#).excludesOldTransactions)
        }
        #expect(try read("{}").receiptData == "")
        #expect(throws: (any Error).self) { try read("[]") }
    }
}
