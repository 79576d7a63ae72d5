import PurchaseVerification

/// Dates and device identifiers in text.
enum DateTarget {
    static func check(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let moment = AppStoreTime(text) {
            demand(text.utf8.count >= 20, "\(text) is too short for a date")
            checkWriting(moment, of: text)
        }
        if let device = DeviceIdentifier(text) {
            let digits = text.utf8.filter { $0 != 0x3A && $0 != 0x2D }
            demand(digits.count == 2 * device.bytes.count, "\(text) became \(device.bytes.count) bytes")
            let written = device.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            demand(String(decoding: digits, as: UTF8.self).lowercased() == written, "\(text) became \(written)")
            demand(DeviceIdentifier(written) == device, "\(written) is another device")
        }
        // Any time can be written, however distant.
        let number = bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        checkWriting(AppStoreTime(millisecondsSince1970: Int64(bitPattern: number)), of: "\(number)")
    }

    /// A date with a year of four digits is read back as the same time.
    private static func checkWriting(_ moment: AppStoreTime, of origin: String) {
        let written = moment.description
        demand(written.hasSuffix("Z"), "\(origin) is written \(written)")
        // From 0000-01-01 to 9999-12-31.
        guard (-62_167_219_200_000..<253_402_300_800_000).contains(moment.millisecondsSince1970) else { return }
        demand(AppStoreTime(written) == moment, "\(origin) is written \(written) and read as another moment")
    }

    static let seeds = [
        "2023-06-21T09:14:02Z", "2023-06-21T09:14:02.131Z", "2020-07-22T18:33:15+0100", "2020-02-29T23:59:59-12:45",
        "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "1900-02-28T00:00:00Z",
        "6B29FC40-CA47-1067-B31D-00DD010662DA", "00:1b:63:84:45:e6", "001B638445E6",
    ].map { Array($0.utf8) }
}
