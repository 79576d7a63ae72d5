import PurchaseAPI
import Testing

@Suite("Replies of verifyReceipt")
struct ReplyReadingTests {
    @Test(
        "A reply is written as it came",
        arguments: [
            #"{"status":21002}"#, "\u{FEFF}{\"status\":0}",
            "{\"status\":0, \"environment\":\"Sandbox\", \n\"receipt\":{\"adam_id\":0, \"in_app\":[ ]}}",
            " \t{ \"status\" : 21007 }\r\n",
            #"{"receipt":{"bid":"a","item_id":"1","nested":{"x":[1,2.50,-0e1,null,true]}},"status":0}"#,
            #"{"status":"0","latest_receipt":"AA\/\/\u0041=","unknown":"\ud83d\ude00\""}"#,
            #"{"auto_renew_status":1,"status":21006,"auto_renew_product_id":"p","latest_expired_receipt_info":{"bid":"a"}}"#,
            #"{"status":21104,"is_retryable":true,"is-retryable":false,"exception":"x"}"#,
            #"{"pending_renewal_info":[{}],"latest_receipt_info":[{"product_id":"p"},{}],"status":0}"#,
            #"{"receipt":{"in_app":[{"purchase_date":"nonsense","quantity":1,"is_trial_period":true}]},"status":0}"#,
            #"{"receipt":[],"latest_receipt_info":[1,{}],"environment":null,"status":0}"#,
        ])
    func asItCame(_ json: String) throws {
        let response = try VerifyReceiptResponse(json: Array(json.utf8))
        #expect(String(decoding: response.json(), as: UTF8.self) == json)
    }

    @Test("A changed value is written in the place of the old one, and the rest stays")
    func changed() throws {
        let json = #"{ "b":[1], "receipt" : {"bundle_id":"a", "in_app":[{"product_id":"p" , "x":1}]},"status":0}"#
        var response = try VerifyReceiptResponse(json: Array(json.utf8))
        response.receipt?.inApp[0].productID = "q\""
        response.receipt?.bundleID = nil
        response.environment = "Sandbox"
        let expected =
            #"{ "b":[1], "receipt" : { "in_app":[{"product_id":"q\"" , "x":1}]},"status":0,"environment":"Sandbox"}"#
        #expect(String(decoding: response.json(), as: UTF8.self) == expected)
    }

    @Test("Integers beyond 2^53 are exact, as numbers and as strings")
    func largeNumbers() throws {
        let json = """
            {"status":0,"receipt":{"receipt_type":"Production","adam_id":18446744073709551615,\
            "app_item_id":18446744073709551615,"download_id":502789016799463214,\
            "in_app":[{"product_id":"p","transaction_id":"9007199254740993",\
            "web_order_line_item_id":"9007199254740993"}]}}
            """
        let response = try VerifyReceiptResponse(json: Array(json.utf8))
        #expect(response.receipt?.adamID == UInt64.max)
        #expect(response.receipt?.downloadID == 502_789_016_799_463_214)
        #expect(response.receipt?.inApp.first?.transactionID == "9007199254740993")
        #expect(response.receipt?.inApp.first?.webOrderLineItemID == 9_007_199_254_740_993)
        #expect(response.unreadMembers.isEmpty)
    }

    @Test("Unknown members, and dates whose forms disagree, are named")
    func unread() throws {
        let json = """
            {"status":0,"new":1,"receipt":{"in_app":[{"product_id":"p","transaction_id":"1","name":"x",\
            "expires_date":"2019-11-13 04:20:44 Etc/GMT","expires_date_ms":"4098226844000",\
            "expires_date_pst":"2099-11-12 20:20:44 America/Los_Angeles"}]}}
            """
        let response = try VerifyReceiptResponse(json: Array(json.utf8))
        #expect(response.unreadMembers == ["new", "receipt.in_app[0].name", "receipt.in_app[0].expires_date"])
    }

    @Test("A date without milliseconds is read from its text")
    func dateText() throws {
        for (text, milliseconds) in [
            ("2012-10-13 19:45:08 Etc/GMT", 1_350_157_508_000), ("2000-02-29 00:00:00 Etc/GMT", 951_782_400_000),
            ("1969-12-31 23:59:59 Etc/GMT", -1000),
        ] as [(String, Int64)] {
            let json = #"{"status":0,"receipt":{"request_date":"\#(text)"}}"#
            let date = try VerifyReceiptResponse(json: Array(json.utf8)).receipt?.requestDate
            #expect(date?.millisecondsSince1970 == milliseconds)
        }
        for text in ["2023-02-30 00:00:00 Etc/GMT", "2023-01-01 00:00:00", "2023-01-01T00:00:00 Etc/GMT"] {
            let json = #"{"status":0,"receipt":{"request_date":"\#(text)"}}"#
            #expect(try VerifyReceiptResponse(json: Array(json.utf8)).receipt?.requestDate == nil)
        }
    }

    @Test("Both spellings of the retry flag are read")
    func retryFlag() throws {
        for (members, isRetryable, spelling) in [
            (#""is_retryable":true"#, true, .underscore), (#""is-retryable":"1""#, true, .hyphen),
            (#""is_retryable":false"#, false, .underscore), (#""is-retryable":0"#, false, .hyphen),
            (#""is_retryable":false,"is-retryable":true"#, true, .both),
        ] as [(String, Bool, VerifyReceiptResponse.RetryFlag.Spelling)] {
            let response = try VerifyReceiptResponse(json: Array("{\"status\":21104,\(members)}".utf8))
            #expect(response.retryFlag == .init(isRetryable, spelling: spelling), "\(members)")
        }
    }

    @Test("Every proper prefix of a reply is refused")
    func prefixes() throws {
        let json = Array(
            #"{"status":0,"receipt":{"bundle_id":"\u0041","in_app":[{"quantity":-1.5e+3,"x":true}]},"y":null}"#.utf8)
        _ = try VerifyReceiptResponse(json: json)
        for count in 0..<json.count {
            #expect(throws: VerifyReceiptReplyError.self) { try VerifyReceiptResponse(json: Array(json[..<count])) }
        }
    }

    @Test(
        "Anything but a reply of verifyReceipt is refused",
        arguments: [
            "", "null", "[]", "0", "<html></html>", #"{"environment":"Sandbox"}"#, #"{"status":true}"#,
            #"{"status":-1}"#, #"{"status":1.0}"#, #"{"status":99999999999999999999999}"#, #"{"status":0}}"#,
            #"{"status":0,"status":21003}"#, #"{"status":0,"st\u0061tus":21003}"#, #"{"status":0,}"#,
            #"{"status":01}"#, #"{'status':0}"#, #"{"status":0,"x":"\q"}"#, "{\"status\":0,\"x\":\"\n\"}",
            #"{"status":0,"x":NaN}"#, #"{"status":0 "x":1}"#, #"{"status":.5}"#,
        ])
    func refused(_ json: String) {
        #expect(throws: VerifyReceiptReplyError.self) { try VerifyReceiptResponse(json: Array(json.utf8)) }
    }

    @Test("Hostile replies are refused or read in bounded work")
    func hostile() throws {
        let deep = Array(repeating: UInt8(ascii: "["), count: 1_000_000)
        #expect(throws: VerifyReceiptReplyError.tooMuch("more than 16 levels")) {
            try VerifyReceiptResponse(json: Array(#"{"status":0,"x":"#.utf8) + deep)
        }
        #expect(throws: VerifyReceiptReplyError.self) {
            try VerifyReceiptResponse(json: Array("{\"status\":0,\"x\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8))
        }
        #expect(throws: VerifyReceiptReplyError.self) {
            try VerifyReceiptResponse(json: Array(repeating: 0x20, count: VerifyReceiptResponse.largestReply + 1))
        }
        // Names that a comparison of strings would normalise.
        let marks = String(repeating: "\u{301}\u{316}", count: 50_000)
        let json = #"{"status":0,"\#(marks)":"\#(marks)","receipt":{"bid":"a","\#(marks)":"\#(marks)"}}"#
        let response = try VerifyReceiptResponse(json: Array(json.utf8))
        #expect(response.json().elementsEqual(json.utf8))
        #expect(response.unreadMembers.allSatisfy { $0.utf8.count < 300 })
    }
}
