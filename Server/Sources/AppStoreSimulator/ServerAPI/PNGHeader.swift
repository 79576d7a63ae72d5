/// The first chunk of a PNG (PNG specification, 11.2.1).
struct PNGHeader: Sendable {
    let width: Int
    let height: Int
    /// Whether its pixels can be transparent.
    let isTransparent: Bool

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// - Returns: nil if the bytes are no PNG.
    init?(_ bytes: [UInt8]) {
        // Signature, length and name of the chunk, width, height, depth, colours and three more octets.
        guard bytes.count >= 33, bytes.starts(with: Self.signature),
            bytes[12..<16].elementsEqual("IHDR".utf8)
        else { return nil }
        func number(_ start: Int) -> Int { bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
        width = number(16)
        height = number(20)
        // Grey and true colour with an alpha channel; other types are transparent with a tRNS chunk.
        isTransparent = bytes[25] == 4 || bytes[25] == 6 || Self.hasTransparencyChunk(bytes)
    }

    private static func hasTransparencyChunk(_ bytes: [UInt8]) -> Bool {
        var place = signature.count
        while place + 8 <= bytes.count {
            let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            let name = bytes[place + 4..<place + 8]
            if name.elementsEqual("tRNS".utf8) { return true }
            if name.elementsEqual("IDAT".utf8) { return false }
            place += 12 + length
        }
        return false
    }
}
