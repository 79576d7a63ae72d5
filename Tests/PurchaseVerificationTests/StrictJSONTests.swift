import Foundation
import PurchaseVerification
import Testing

@Suite("The check that JSON passes before it is decoded")
struct StrictJSONTests {
    private func passes(_ json: String) -> Bool { passes(Array(json.utf8)) }

    private func passes(_ json: [UInt8]) -> Bool {
        do throws(StrictJSON.Flaw) {
            try StrictJSON.check(json)
            return true
        } catch {
            return error.expected.isEmpty
        }
    }

    @Test(
        "JSON passes in every form that RFC 8259 allows",
        arguments: [
            "{}", "[]", " \t\r\n{ \"a\" : [ 1 , { } ] } \n", "0", "-0", "10", "-1.5", "1e5", "1E+5", "0.1e-7", "true",
            "false",
            "null", #""""#, #""a""#, #"{"":1}"#, #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":1}]"#,
            #""\"\\\/\b\f\n\r\t\u0041\u00e9\uD83D\ude00""#, "\"é€😀\u{7F}\u{301}\"", "{\"a\":\"\u{0301}\u{0316}\"}",
        ])
    func accepted(_ json: String) throws {
        #expect(passes(json))
        _ = try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
        #expect(passes("\u{FEFF}" + json) && !passes("\u{FEFF}\u{FEFF}" + json) && !passes(json + "\u{FEFF}"))
        _ = try JSONSerialization.jsonObject(with: Data(("\u{FEFF}" + json).utf8), options: .fragmentsAllowed)
        #expect(!passes(json + "x"))
        #expect(!passes(Array(json.utf8) + [0]))
        #expect(!passes([UInt8](json.data(using: .utf16LittleEndian) ?? Data())))
    }

    @Test(
        "Text that is not JSON, or is ambiguous, is refused",
        arguments: [
            "", " ", "{", "}", "[", "]", "{]", "[}", "[1,]", "{\"a\":1,}", "[,1]", "[1 2]", "{\"a\" 1}", "{\"a\":}",
            "{a:1}",
            "{1:1}", "{\"a\":1 \"b\":2}", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "tru", "True", "nul",
            "'a'", "\"", "\"a", "\"\\", "\"\\u00\"", #""\x41""#, #""\u00g0""#, #""\ud800""#, #""\udc00""#,
            #""\ud800\ud800""#,
            #""\ud800a""#, "\"\n\"", "\"\u{0}\"", "{}{}", "1 1", "/**/1", #"{"a":1,"a":1}"#, #"{"a":1,"b":{},"a":1}"#,
            #"{"\u0061":1}"#, #"{"a\/b":1}"#, "{\"é\":1}", "{\"a\u{7F}\":1}", "{\"e\u{301}\u{316}\":1}",
        ])
    func refused(_ json: String) { #expect(!passes(json)) }

    @Test("Every proper prefix of an object is refused")
    func prefixes() {
        let json = Array(#"{"a":[1.5e3,true,null,"é\n\ud83d\ude00",{"b":{}}],"c":-0}"#.utf8)
        #expect(passes(json))
        for count in json.indices { #expect(!passes(Array(json[..<count])), "\(count)") }
    }

    @Test("Only UTF-8 text passes")
    func encodings() {
        for first in (0x80...0xFF).map(UInt8.init) {
            for rest in [
                [], [0x80], [0xBF, 0x80], [0x9F, 0xBF], [0xA0, 0x80], [0x80, 0x80, 0x80], [0x90, 0x80, 0x80],
            ]
                as [[UInt8]]
            {
                let text = [first] + rest
                let isText = String(bytes: text, encoding: .utf8) != nil
                #expect(passes([0x22] + text + [0x22]) == isText, "\(text)")
                #expect(!passes([0x22] + text), "\(text)")
            }
        }
    }

    @Test("Two equal members are found at any position", arguments: [2, 3, 64, 128])
    func duplicates(_ count: Int) {
        let names = (0..<count).map { "name\($0)" }
        func object(_ names: [String]) -> String { "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}" }
        #expect(passes(object(names)))
        for first in stride(from: 0, to: count - 1, by: max(1, count / 16)) {
            for second in (first + 1)..<count {
                var names = names
                names[second] = names[first]
                #expect(!passes(object(names)), "\(first) and \(second) of \(count)")
            }
        }
    }

    @Test("Each limit is exact")
    func limits() {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        func list(_ values: Int) -> String { "[" + Array(repeating: "0", count: values).joined(separator: ",") + "]" }
        func members(_ count: Int) -> String { "{" + (0..<count).map { "\"\($0)\":0" }.joined(separator: ",") + "}" }
        func name(_ bytes: Int) -> String { "{\"" + String(repeating: "n", count: bytes) + "\":0}" }
        #expect(passes(nested(16)) && !passes(nested(17)))
        #expect(passes(list(4095)) && !passes(list(4096)))
        #expect(passes(members(128)) && !passes(members(129)))
        #expect(passes(name(64)) && !passes(name(65)))
        #expect(passes(String(repeating: "1", count: 64)) && !passes(String(repeating: "1", count: 65)))
    }
}
