/// The dates of transaction receipts: `2012-06-29 13:42:12 Etc/GMT`.
enum GreenwichDate {
    static func read(_ bytes: Span<UInt8>, _ range: Range<Int>) -> AppStoreTime? {
        guard range.count == 27, range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
        let (raw, start) = (bytes.bytes, range.lowerBound)
        let zone = UInt64(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: start + 19, as: UInt64.self))
        // " Etc/GMT"
        guard zone == 0x2045_7463_2F47_4D54 else { return nil }
        let first = UInt64(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
        let second = UInt64(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: start + 8, as: UInt64.self))
        let third = UInt32(bigEndian: raw.unsafeLoadUnaligned(fromByteOffset: start + 16, as: UInt32.self))
        // RFC 3339 except for the letters around the time: the spaces become T and Z.
        return ReceiptDate.utcSeconds(first, second ^ 0x0000_7400_0000_0000, third ^ 0x0000_007A)
    }
}
