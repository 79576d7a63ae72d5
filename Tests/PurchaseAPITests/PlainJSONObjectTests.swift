import Foundation
import PurchaseAPI
import Testing

@Suite("Requests in the usual form")
struct PlainJSONObjectTests {
    private static let requests = [
        #"{"signedPayload":"eyJhbGciOiJFUzI1NiJ9.e30.AAAA"}"#,
        #"{"receipt-data":"MIIB\/AgEB+w==","password":"0123456789abcdef","exclude-old-transactions":true}"#,
        " {\t\"receipt_data\" :\r\n\"a~b\" , \"renewal\": false ,\"\":\"\"} \n",
        #"{"customer_id":"Zoë","product_id":"coins"}"#,
        #"{"a":"\u0041","b":"\n"}"#, #"{"quantity":1,"flag":null}"#, #"{"a":{"b":"c"}}"#, #"{"a":"b","a":"c"}"#,
        #"{"a":truefalse}"#, #"{"a":"b",}"#, "{}", "[]", "", #"{"a":"b"}{}"#,
    ]

    /// What Foundation reads, in the same form.
    private static func foundation(_ json: [UInt8]) -> [String: PlainJSONObject.Value]? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(json)) as? [String: Any] else { return nil }
        return object.compactMapValues { value in
            if let text = value as? String { return .text(Array(text.utf8)) }
            guard let number = value as? NSNumber, String(cString: number.objCType) == "c" else { return nil }
            return .flag(number.boolValue)
        }
    }

    private static func agree(_ json: [UInt8]) -> Bool {
        guard let object = PlainJSONObject(json) else { return true }
        let members = Dictionary(object.members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return members.count == object.members.count && members == foundation(json)
    }

    @Test("The usual form is read as Foundation reads it: every prefix, every flipped bit, every byte left out")
    func agreement() {
        for request in Self.requests {
            let json = Array(request.utf8)
            #expect(Self.agree(json), "\(request)")
            for place in json.indices {
                #expect(Self.agree(Array(json[..<place])), "\(request), the first \(place) bytes")
                var left = json
                left.remove(at: place)
                #expect(Self.agree(left), "\(request) without byte \(place)")
                for bit in 0..<8 {
                    var flipped = json
                    flipped[place] ^= 1 << bit
                    #expect(Self.agree(flipped), "\(request), bit \(bit) of byte \(place)")
                }
            }
        }
    }

    @Test("The usual form is read, and other forms and more than 16 members are left to Foundation")
    func forms() {
        let read = Self.requests.map { PlainJSONObject(Array($0.utf8))?.members.count }
        #expect(read == [1, 3, 3, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil])
        for count in [16, 17] {
            let json = "{" + (0..<count).map { #""m\#($0)":"""# }.joined(separator: ",") + "}"
            #expect(PlainJSONObject(Array(json.utf8))?.members.count == (count == 16 ? 16 : nil))
        }
    }
}
