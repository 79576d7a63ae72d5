import PurchaseAPI

extension WrittenJSON {
    /// JSON of a file or of evidence; `nil` if it is not JSON, has a member twice, or has more values than genuine
    /// claims ever have: the largest have fewer than a hundred.
    static func bounded(_ json: [UInt8]) -> WrittenJSON? {
        guard case .success(let document) = read(json, bounds: Bounds(values: 65_536)) else { return nil }
        return document
    }

    /// Whether the whole is an object.
    var isObject: Bool { nodes.first?.kind == .object }

    /// The text of a member of the whole; `nil` if it is absent, or not a text.
    func string(_ name: StaticString) -> [UInt8]? {
        guard isObject, let value = value(name, of: 0), nodes[value].kind == .string else { return nil }
        return text(of: value)
    }

    /// Writes the whole without white space.
    func write(to json: inout JSONWriter) { write(0, to: &json) }

    /// Writes a value without white space, its numbers as they were written.
    func write(_ value: Int, to json: inout JSONWriter) {
        switch nodes[value].kind {
        case .string: json.string(utf8: text(of: value))
        case .number, .word: json.json(text(of: value))
        case .array: json.array(elements(of: value)) { write($1, to: &$0) }
        case .object:
            json.object { json in
                for member in members(of: value) {
                    json.key(String(decoding: text(of: member.name), as: UTF8.self))
                    write(member.value, to: &json)
                }
            }
        }
    }
}
