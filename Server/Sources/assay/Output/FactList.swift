import Foundation

/// The members of an object, one a line.
enum FactList {
    /// The members of a message in alphabetical order, as the HTTP API names them. Objects inside are indented.
    static func text(_ message: some Encodable) throws -> String {
        let json = try JSONSerialization.jsonObject(with: try JSONEncoder().encode(message))
        return lines(json as? [String: Any] ?? [:], indent: "")
    }

    private static func lines(_ members: [String: Any], indent: String) -> String {
        let width = members.keys.map(\.count).max() ?? 0
        return members.sorted { $0.key < $1.key }.map { name, value in
            if let object = value as? [String: Any] {
                return "\(indent)\(name)\n" + lines(object, indent: indent + "  ")
            }
            let text = (value as? [Any]).map { $0.map { "\($0)" }.joined(separator: ", ") } ?? plain(value)
            let padding = String(repeating: " ", count: width - name.count + 2)
            return "\(indent)\(name)\(padding)\(text.printable)\n"
        }.joined()
    }

    private static func plain(_ value: Any) -> String {
        if let number = value as? NSNumber, String(cString: number.objCType) == "c" {
            return number.boolValue ? "true" : "false"
        }
        return "\(value)"
    }
}
