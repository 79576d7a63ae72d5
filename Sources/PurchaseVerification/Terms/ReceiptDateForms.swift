/// Both ways to read a date, for the test that they agree.
package enum ReceiptDateForms {
    package static func short(_ bytes: [UInt8]) -> AppStoreTime? {
        let slice = bytes[...]
        return ReceiptDate.readUTCSeconds(slice.span, 0..<bytes.count)
    }

    package static func long(_ bytes: [UInt8]) -> AppStoreTime? {
        let slice = bytes[...]
        return ReceiptDate.read(slice.span, 0..<bytes.count)
    }
}
