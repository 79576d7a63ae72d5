import Crypto
import Foundation

/// Fields in the format `application/x-www-form-urlencoded`.
enum FormFields {
    /// Reads fields; of several with one name the first counts.
    static func read(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.utf8.split(separator: UInt8(ascii: "&")).prefix(64) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = decoded(parts[0])
            if fields[name] == nil { fields[name] = parts.count > 1 ? decoded(parts[1]) : "" }
        }
        return fields
    }

    /// The text of a parameter of a URL.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                bytes.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func decoded(_ text: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2,
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else {
                    bytes.append(byte)
                    continue
                }
                rest.removeFirst(2)
                bytes.append(value)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

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

/// Answers a form that is sent twice, as by a double click, with the answer to the first one, so that it acts once.
actor FormOnce {
    /// The most forms that are remembered: a double click follows within a second, and no person sends so many.
    private static let most = 200

    private var answers: [Data: Task<ConsoleResponse, Never>] = [:]
    /// The oldest first.
    private var order: [Data] = []

    /// Answers a form. An answer that refuses is not remembered.
    ///
    /// - Parameters:
    ///   - session: the hash of the session.
    ///   - request: the request, with the number that each page gives its forms.
    ///   - work: acts and answers.
    func answer(
        _ session: [UInt8], _ request: ConsoleRequest, _ work: @escaping @Sendable () async -> ConsoleResponse
    ) async -> ConsoleResponse {
        let form = Self.name(session, request)
        if let first = answers[form] { return await first.value }
        let first = Task { await work() }
        answers[form] = first
        order.append(form)
        if order.count > Self.most { answers[order.removeFirst()] = nil }
        let answer = await first.value
        if answer.status >= 400 {
            answers[form] = nil
            order.removeAll { $0 == form }
        }
        return answer
    }

    /// A hash of the session and of everything that was sent.
    private static func name(_ session: [UInt8], _ request: ConsoleRequest) -> Data {
        var hash = SHA256()
        hash.update(data: session)
        for text in [request.path] + request.form.sorted(by: { $0.key < $1.key }).flatMap({ [$0.key, $0.value] }) {
            hash.update(data: Data("\(text.utf8.count) \(text)".utf8))
        }
        return Data(hash.finalize())
    }
}
