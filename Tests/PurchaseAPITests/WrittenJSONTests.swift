import Foundation
import PurchaseAPI
import Testing

@Suite("JSON as it was written")
struct WrittenJSONTests {
    private static func read(_ json: String, _ bounds: WrittenJSON.Bounds = .init()) -> WrittenJSON? {
        guard case .success(let document) = WrittenJSON.read(Array(json.utf8), bounds: bounds) else { return nil }
        return document
    }

    @Test("33.2 Members keep their order, numbers their digits, and texts lose their escapes")
    func values() throws {
        let json = try #require(Self.read(#" { "b" : 1.50e+01 , "a" : [ "\u00e9\/", null, { } ] } "#))
        let members = json.members(of: 0)
        #expect(members.map { String(decoding: json.text(of: $0.name), as: UTF8.self) } == ["b", "a"])
        #expect(json.text(of: members[0].value).elementsEqual("1.50e+01".utf8))
        let elements = json.elements(of: members[1].value)
        #expect(elements.map { json.nodes[$0].kind } == [.string, .word, .object])
        #expect(json.text(of: elements[0]).elementsEqual("é/".utf8))
        #expect(json.value("a", of: 0) == members[1].value && json.value("c", of: 0) == nil)
    }

    @Test("33.2 Every proper prefix of an object is refused, and so is text that decoders read differently")
    func refused() {
        let json = #"{"a":[1.5e3,true,null,"é\n\ud83d\ude00",{"b":{}}],"c":-0}"#
        #expect(Self.read(json) != nil && Self.read("\u{FEFF}" + json)?.value("c", of: 0) != nil)
        for count in 0..<json.utf8.count {
            #expect(Self.read(String(decoding: json.utf8.prefix(count), as: UTF8.self)) == nil, "\(count)")
        }
        for json in [
            "", "[1,]", #"{"a":1,}"#, #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, "01", "[1 2]", "\u{FEFF}\u{FEFF}{}",
            "{}\u{FEFF}", "{}{}",
            "nan",
            "\"\n\"",
        ] {
            #expect(Self.read(json) == nil, "\(json)")
        }
    }

    @Test("33.2 Each bound is exact")
    func bounds() {
        let nested = "[[[0]]]"
        #expect(Self.read(nested, .init(depth: 3)) != nil && Self.read(nested, .init(depth: 2)) == nil)
        #expect(Self.read(nested, .init(values: 4)) != nil && Self.read(nested, .init(values: 3)) == nil)
        #expect(Self.read(nested, .init(bytes: 7)) != nil && Self.read(nested, .init(bytes: 6)) == nil)
    }
}
