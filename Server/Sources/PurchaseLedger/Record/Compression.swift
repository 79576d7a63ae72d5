import CZlib
import PurchaseVerification

/// The stored form of evidence. Receipts come as base64 text, of which deflate saves a quarter and more.
enum Compression {
    /// The shorter of the two forms. The fastest level already saves what base64 wastes.
    static func compressed(_ bytes: [UInt8]) -> (form: CompressionForm, content: [UInt8]) {
        var length = compressBound(uLong(bytes.count))
        var content = [UInt8](repeating: 0, count: Int(length))
        guard compress2(&content, &length, bytes, uLong(bytes.count), Z_BEST_SPEED) == Z_OK, length < bytes.count
        else { return (.none, bytes) }
        content.removeLast(content.count - Int(length))
        return (.zlib, content)
    }

    /// The original bytes; `nil` if the content is not exactly the compressed form of so many bytes.
    static func expanded(_ content: [UInt8], _ form: CompressionForm, size: Int) -> [UInt8]? {
        switch form {
        case .none: return content.count == size ? content : nil
        case .zlib:
            var length = uLong(size)
            var consumed = uLong(content.count)
            var bytes = [UInt8](repeating: 0, count: size)
            // `uncompress` ignores bytes behind the stream; `uncompress2` reports how many it consumed.
            guard uncompress2(&bytes, &length, content, &consumed) == Z_OK, length == size, consumed == content.count
            else { return nil }
            return bytes
        }
    }
}
