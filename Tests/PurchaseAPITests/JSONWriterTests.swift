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

    @Test("Members keep the order of writing, and numbers their digits")
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

    @Test("A request is read in every form that clients write")
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

    @Test("A plain request is read as Foundation reads it, also cut short or with any byte changed")
    func plainRequest() throws {
        func agree(_ bytes: [UInt8]) {
            let ours = try? VerifyReceiptRequest(json: bytes)
            let foundation = try? JSONDecoder().decode(VerifyReceiptRequest.self, from: Data(bytes))
            #expect(ours == foundation, "\(String(decoding: bytes, as: UTF8.self))")
        }
        let texts = [
            #"{"receipt-data":"MIIT+w==","password":"p w","exclude-old-transactions":true}"#,
            #" {"exclude-old-transactions" : false,\#n "receipt-data": "MII\/\/Tw==MIIabcdefghijklmnop" }\#r\#n"#,
            #"{"receipt-data":"A","receipt-data":"B"}"#, #"{"receipt-data":null,"password":7}"#,
            #"{"receipt-data":"\u0041\n","other":[{"a":"}"}],"password":"ä"}"#, "[]", "{}", #"{"password":"p"}"#, "",
        ]
        for text in texts {
            let bytes = Array(text.utf8)
            for count in 0...bytes.count { agree(Array(bytes[..<count])) }
            for index in bytes.indices {
                for other in [0x00, 0x0A, 0x1F, 0x20, 0x22, 0x2C, 0x2F, 0x3A, 0x5C, 0x7D, 0x7F, 0x80, 0xC3] as [UInt8] {
                    var changed = bytes
                    changed[index] = other
                    agree(changed)
                    changed.insert(bytes[index], at: index)
                    agree(changed)
                }
            }
        }
        let long = String(repeating: "MIIT/+", count: 2000)
        #expect(try VerifyReceiptRequest(json: Array(#"{"receipt-data":"\#(long)"}"#.utf8)).receiptData == long)
    }
}
