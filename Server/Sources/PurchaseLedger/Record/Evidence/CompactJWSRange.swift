/// The position of a compact JWS (RFC 7515, section 7.1) in text.
struct CompactJWSRange {
    let header: Range<Int>
    let payload: Range<Int>
    let signature: Range<Int>

    /// The shortest part that is worth a separate piece.
    private static let minimum = 16
    /// `{"` in base64.
    private static let objectStart = Array("eyJ".utf8)
    private static let digits: [Bool] = {
        var digits = [Bool](repeating: false, count: 256)
        for digit in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8 {
            digits[Int(digit)] = true
        }
        return digits
    }()

    /// Whether text can begin with a JWS: it starts like every JSON object in base64.
    static func canStart(_ text: ArraySlice<UInt8>) -> Bool { text.starts(with: objectStart) }

    /// The first JWS in text: three runs of base64url separated by dots. Each byte is read once.
    init?(in text: ArraySlice<UInt8>) {
        var found: (start: Int, first: Int, second: Int, end: Int)?
        text.withUnsafeBufferPointer { text in
            Self.digits.withUnsafeBufferPointer { digits in
                var start = 0
                while start < text.count, found == nil {
                    while start < text.count, !digits[Int(text[start])] { start += 1 }
                    var (end, dots, first, second) = (start, 0, start, start)
                    while end < text.count {
                        if !digits[Int(text[end])] {
                            guard text[end] == UInt8(ascii: ".") else { break }
                            dots += 1
                            if dots == 1 { first = end } else { second = end }
                        }
                        end += 1
                    }
                    let isLong = first - start >= Self.minimum && second - first > Self.minimum
                    if dots == 2, isLong, end - second > Self.minimum { found = (start, first, second, end) }
                    start = end
                }
            }
        }
        guard let found else { return nil }
        let origin = text.startIndex
        header = origin + found.start..<origin + found.first
        payload = origin + found.first + 1..<origin + found.second
        signature = origin + found.second + 1..<origin + found.end
    }
}
