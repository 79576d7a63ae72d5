/// How deep JSON nests and how many values it has, found in one pass before the library reads it: to decode what is nested
/// deeply takes the library a time that grows with the depth of each value.
enum JSONBounds {
    /// The limit that the text exceeds, in words; `nil` where it exceeds none. What is no JSON at all is left to the library.
    static func excess(of json: Span<UInt8>) -> String? {
        var depth = 0
        var values = 0
        var position = 0
        while position < json.count {
            switch json[position] {
            case UInt8(ascii: "\""):
                position = endOfString(json, from: position + 1)
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

    /// The offset of the quote that ends a string, or the end.
    private static func endOfString(_ json: Span<UInt8>, from start: Int) -> Int {
        var position = start
        while true {
            position = json.endOfPlainText(from: position)
            guard position < json.count else { return position }
            switch json[position] {
            case UInt8(ascii: "\""): return position
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
    }
}
