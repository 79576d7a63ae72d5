import Foundation
import PurchaseAPI
import PurchaseVerification

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
    private let source: String
    private let handle: FileHandle
    private let size: Int?
    private var buffer = LineBuffer()
    private var isAtEnd = false
    private var bytesRead = 0
    private var line = 0
    private(set) var isRequests = false
    private static let chunk = 1 << 20

    init(_ source: String) throws {
        self.source = source
        (handle, size) = try InputFile.open(source)
    }

    var share: Double {
        guard let size, size > 0 else { return 0 }
        return Double(bytesRead - buffer.count) / Double(size)
    }

    /// The whole source as one item, unless its first line shows that it is a stream of requests.
    mutating func firstItem() throws -> EvidenceItem {
        try fill()
        buffer.dropByteOrderMark()
        if try isStreamOfRequests() {
            isRequests = true
            if let item = try next() { return item }
        }
        while !isAtEnd {
            try fill()
            guard buffer.count <= InputFile.limit else {
                throw InputError(source, "larger than \(InputFile.limit) bytes")
            }
        }
        let bytes = buffer.takeAll()
        let content: EvidenceItem.Content =
            Self.isJSONObject(bytes) ? .request(bytes) : .evidence(bytes)
        return EvidenceItem(source: source, line: nil, content: content)
    }

    /// The next line that is not blank.
    mutating func next() throws -> EvidenceItem? {
        while let text = try takeLine() {
            line += 1
            guard text.contains(where: { !LineBuffer.isWhiteSpace($0) }) else { continue }
            return EvidenceItem(source: source, line: line, content: .request(text))
        }
        return nil
    }

    /// Whether one of the first two non-blank lines is a complete JSON object: one line may be damaged. A source of a
    /// single line is one item, not a stream.
    private mutating func isStreamOfRequests() throws -> Bool {
        while buffer.firstLines(isAtEnd: isAtEnd).count < 2 {
            guard !isAtEnd else { return false }
            guard buffer.count <= InputFile.limit else { return false }
            try fill()
        }
        return buffer.firstLines(isAtEnd: isAtEnd).contains(where: Self.isJSONObject)
    }

    private mutating func takeLine() throws -> [UInt8]? {
        while true {
            if let text = buffer.takeLine() { return text }
            if isAtEnd { return buffer.count == 0 ? nil : buffer.takeAll() }
            guard buffer.count <= InputFile.limit else {
                throw InputError(source, "line \(line + 1) is larger than \(InputFile.limit) bytes")
            }
            try fill()
        }
    }

    private mutating func fill() throws {
        do {
            guard let data = try handle.read(upToCount: Self.chunk), !data.isEmpty else {
                isAtEnd = true
                return
            }
            bytesRead += data.count
            buffer.append(data)
        } catch {
            throw InputError(source, "cannot be read")
        }
    }

    private static func isJSONObject(_ bytes: [UInt8]) -> Bool {
        guard bytes.first(where: { !LineBuffer.isWhiteSpace($0) }) == UInt8(ascii: "{") else { return false }
        // A property list of iOS 6 also begins with a brace.
        return WrittenJSON.bounded(bytes)?.isObject == true
    }
}
