/// How deep JSON nests and how many values it has, found in one pass before the library reads it: to decode what is nested
/// deeply takes the library a time that grows with the depth of each value, and what has many values dozens of times its size.
///
/// JSON is UTF-8 (RFC 8259, 8.1). The library reads UTF-16 and UTF-32, too, in which quotes and brackets are hidden from this
/// pass; in both of them every mark of JSON has a zero byte, and in UTF-8 no JSON has one.
public enum JSONBounds {
    /// The limit that the text exceeds, in words; `nil` where it exceeds none. What is no JSON at all is left to the library.
    public static func excess(of json: Span<UInt8>) -> String? {
        var depth = 0
        var values = 0
        var position = 0
        while position < json.count {
            switch json[position] {
            case UInt8(ascii: "\""):
                guard let end = endOfString(json, from: position + 1) else { return utf8 }
                position = end
            case 0: return utf8
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                values += 1
                if depth > VerificationBudget.jsonDepth {
                    return "at most \(VerificationBudget.jsonDepth) levels of JSON"
                }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
            case UInt8(ascii: ","):
                values += 1
            default: break
            }
            if values > VerificationBudget.jsonValues {
                return "at most \(VerificationBudget.jsonValues) values in JSON"
            }
            position += 1
        }
        return nil
    }

    private static let utf8 = "JSON in UTF-8"

    /// The offset of the quote that ends a string, or the end; `nil` where a zero byte comes first.
    private static func endOfString(_ json: Span<UInt8>, from start: Int) -> Int? {
        var position = start
        while true {
            position = json.endOfPlainText(from: position)
            guard position < json.count else { return position }
            switch json[position] {
            case UInt8(ascii: "\""): return position
            case UInt8(ascii: "\\"):
                // What is escaped is looked at, too, if it is a zero byte.
                position += position + 1 < json.count && json[position + 1] == 0 ? 1 : 2
            case 0: return nil
            default: position += 1
            }
        }
    }
}
