import Foundation
import PurchaseAPI
import PurchaseVerification

/// One piece of evidence to check, and its source.
struct EvidenceItem: Sendable {
    /// The argument that named it.
    let source: String
    /// The line, counted from 1, if the source is a stream of requests.
    let line: Int?
    /// The evidence as found in the source: bytes, or a request in JSON.
    let content: Content

    enum Content: Sendable {
        case evidence([UInt8])
        case request([UInt8])
    }

    /// The bytes of the evidence. A request without evidence gives no bytes, which every verifier refuses.
    func evidence() -> [UInt8] {
        switch content {
        case .evidence(let bytes): bytes
        case .request(let json): Self.receiptData(json) ?? json
        }
    }

    private static func receiptData(_ json: [UInt8]) -> [UInt8]? {
        // Nearly all requests are written plainly, which is read fast; `nil` for all others, which are read with care
        // below.
        if let request = plainRequest(json), !request.receiptText.isEmpty { return request.receiptText }
        guard let request = WrittenJSON.bounded(json) else { return nil }
        // Notifications of the App Store server have their JWS under another name.
        return request.string("receipt-data") ?? request.string("signedPayload") ?? []
    }

    private static func plainRequest(_ json: [UInt8]) -> VerifyReceiptRequest? {
        do {
            return try VerifyReceiptRequest(json: json) { _ in throw CocoaError(.coderReadCorrupt) }
        } catch {
            return nil
        }
    }
}

/// Reads arguments into evidence, piece by piece, so that a stream of any length takes little memory.
///
/// A source whose first line is a complete JSON object is a stream of requests, one per line; any other source is one
/// piece of evidence or one request.
struct EvidenceReader: IteratorProtocol {
    private var sources: ArraySlice<String>
    private var stream: LineStream?
    /// The source that could not be read.
    private(set) var errors: [InputError] = []
    private let sourceCount: Int

    init(_ sources: [String]) {
        self.sources = sources[...]
        sourceCount = sources.count
    }

    /// The share of the input that was read.
    var share: Double {
        let finished = Double(sourceCount - sources.count) - (stream == nil ? 0 : 1)
        return (finished + (stream?.share ?? 0)) / Double(max(1, sourceCount))
    }

    mutating func next() -> EvidenceItem? {
        while true {
            do {
                if stream != nil {
                    if let item = try stream?.next() { return item }
                    stream = nil
                }
                guard let source = sources.popFirst() else { return nil }
                var opened = try LineStream(source)
                let first = try opened.firstItem()
                if opened.isRequests { stream = opened }
                return first
            } catch let error as InputError {
                stream = nil
                errors.append(error)
            } catch {
                stream = nil
                errors.append(InputError("input", "\(error)"))
            }
        }
    }
}

/// A source read line by line, as far as it has lines.
private struct LineStream {
    private var bytes: InputBytes
    private(set) var isRequests = false

    init(_ source: String) throws { bytes = try InputBytes(source) }

    var share: Double { bytes.share ?? 0 }

    /// The whole source as one item, unless its first line shows that it is a stream of requests.
    mutating func firstItem() throws -> EvidenceItem {
        try bytes.fill()
        bytes.dropByteOrderMark()
        if try isStreamOfRequests() {
            isRequests = true
            if let item = try next() { return item }
        }
        while !bytes.isAtEnd {
            try bytes.fill()
            guard bytes.count <= InputFile.limit else {
                throw InputError(bytes.source, "larger than \(InputFile.limit) bytes")
            }
        }
        let all = bytes.takeAll()
        return EvidenceItem(
            source: bytes.source, line: nil, content: Self.isJSONObject(all) ? .request(all) : .evidence(all))
    }

    /// The next line that is not blank.
    mutating func next() throws -> EvidenceItem? {
        while true {
            let line = bytes.line
            guard let text = bytes.takeLine() else {
                if bytes.isAtEnd { return nil }
                guard bytes.count <= InputFile.limit else {
                    throw InputError(bytes.source, "line \(line) is larger than \(InputFile.limit) bytes")
                }
                try bytes.fill()
                continue
            }
            guard !InputBytes.isBlank(text) else { continue }
            let request = text.last == UInt8(ascii: "\n") ? text.dropLast() : text
            return EvidenceItem(source: bytes.source, line: line, content: .request(request))
        }
    }

    /// Whether one of the first two non-blank lines is a complete JSON object: one line may be damaged. A source of a
    /// single line is one item, not a stream.
    private mutating func isStreamOfRequests() throws -> Bool {
        var lines: [[UInt8]] = []
        // Where the next line begins, counted from the first byte.
        var scanned = 0
        while lines.count < 2 {
            let begin = bytes.start + scanned
            let end = bytes.position(of: UInt8(ascii: "\n"), from: begin) ?? (bytes.isAtEnd ? bytes.bytes.count : nil)
            guard let end else {
                guard bytes.count <= InputFile.limit else { return false }
                try bytes.fill()
                continue
            }
            guard begin < bytes.bytes.count else { return false }
            if !InputBytes.isBlank(bytes.bytes[begin..<end]) { lines.append(Array(bytes.bytes[begin..<end])) }
            scanned = end + 1 - bytes.start
        }
        return lines.contains(where: Self.isJSONObject)
    }

    private static func isJSONObject(_ bytes: [UInt8]) -> Bool {
        guard bytes.first(where: { !InputBytes.isWhiteSpace($0) }) == UInt8(ascii: "{") else { return false }
        // A property list of iOS 6 also begins with a brace.
        return WrittenJSON.bounded(bytes)?.isObject == true
    }
}
