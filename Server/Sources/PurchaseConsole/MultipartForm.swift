import Foundation

/// Fields in the format `multipart/form-data` (RFC 7578), in which browsers send files.
enum MultipartForm {
    /// The most parts that are read: the largest form has five.
    private static let mostParts = 16
    /// The longest head of a part, in bytes: its name, the name of the file and a type. A longer one is left out, so
    /// that the work does not grow with what strangers write there.
    private static let longestHead = 2048
    /// The longest boundary, in bytes (RFC 2046, section 5.1.1).
    private static let longestBoundary = 70

    private static let lineBreak = Array("\r\n".utf8)
    private static let blank = Array("\r\n\r\n".utf8)

    /// The boundary that a content type names; `nil` for another type.
    static func boundary(of contentType: String?) -> [UInt8]? {
        guard let contentType, contentType.utf8.count <= 256,
            contentType.lowercased().hasPrefix("multipart/form-data"),
            let range = contentType.range(of: "boundary=", options: .caseInsensitive)
        else { return nil }
        var text = contentType[range.upperBound...].prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        if text.count > 1, text.hasPrefix("\""), text.hasSuffix("\"") { text = String(text.dropFirst().dropLast()) }
        let bytes = Array(text.utf8)
        return (1...longestBoundary).contains(bytes.count) ? bytes : nil
    }

    /// Reads fields; of several with one name the first that is not empty counts. What has another form is left out.
    static func read(_ body: [UInt8], boundary: [UInt8]) -> [String: [UInt8]] {
        let delimiter = lineBreak + Array("--".utf8) + boundary
        // The first delimiter has no line break before it.
        let text = lineBreak + body
        let places = places(of: delimiter, in: text)
        var fields: [String: [UInt8]] = [:]
        for (start, end) in zip(places, places.dropFirst()) {
            let part = text[(start + delimiter.count)..<end]
            guard let (name, content) = field(part), fields[name]?.isEmpty ?? true else { continue }
            fields[name] = Array(content)
        }
        return fields
    }

    /// The places of a pattern whose first byte is nowhere else in it, so each byte is compared at most twice.
    private static func places(of pattern: [UInt8], in text: [UInt8]) -> [Int] {
        var places: [Int] = []
        var place = 0
        while place + pattern.count <= text.count, places.count <= mostParts {
            if text[place] == pattern[0], text[place..<(place + pattern.count)].elementsEqual(pattern) {
                places.append(place)
                place += pattern.count
            } else {
                place += 1
            }
        }
        return places
    }

    /// The name and the content of a part, which begins after its delimiter.
    private static func field(_ part: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>)? {
        guard part.starts(with: lineBreak) else { return nil }
        let first = part.prefix(longestHead)
        guard let end = first.indices.first(where: { first[$0...].starts(with: blank) }) else { return nil }
        for line in String(decoding: first[..<end], as: UTF8.self).components(separatedBy: "\r\n") {
            guard line.lowercased().hasPrefix("content-disposition:") else { continue }
            for parameter in line.split(separator: ";").dropFirst() {
                let parameter = parameter.trimmingCharacters(in: .whitespaces)
                guard parameter.hasPrefix("name=\""), parameter.hasSuffix("\""), parameter.utf8.count > 7 else {
                    continue
                }
                return (String(parameter.dropFirst(6).dropLast()), part[(end + blank.count)...])
            }
        }
        return nil
    }
}
