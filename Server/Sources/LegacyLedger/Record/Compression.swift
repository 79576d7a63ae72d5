import CZlib

/// How evidence is kept. Receipts come as base64 text, of which deflate saves a quarter and more.
enum Compression: String {
    case none
    /// RFC 1950
    case zlib

    /// The bytes in the smaller of the two forms. What base64 wastes the fastest level saves, too.
    static func compressed(_ bytes: [UInt8]) -> (form: Compression, content: [UInt8]) {
        var length = compressBound(uLong(bytes.count))
        var content = [UInt8](repeating: 0, count: Int(length))
        guard compress2(&content, &length, bytes, uLong(bytes.count), Z_BEST_SPEED) == Z_OK,
            length < bytes.count
        else { return (.none, bytes) }
        content.removeLast(content.count - Int(length))
        return (.zlib, content)
    }

    /// The bytes that were compressed; `nil` if these are not they.
    ///
    /// - Parameter size: how many they were.
    func expanded(_ content: [UInt8], size: Int) -> [UInt8]? {
        switch self {
        case .none: return content.count == size ? content : nil
        case .zlib:
            var length = uLong(size)
            var bytes = [UInt8](repeating: 0, count: size)
            guard uncompress(&bytes, &length, content, uLong(content.count)) == Z_OK, length == size else { return nil }
            return bytes
        }
    }
}
