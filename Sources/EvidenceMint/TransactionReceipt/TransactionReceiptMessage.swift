import Foundation

/// A signed transaction receipt, as free as its parts allow.
struct TransactionReceiptMessage {
    var version: UInt8
    var signature: [UInt8]
    /// The length to declare in place of the certificate's.
    var certificateLength: UInt32?
    var certificate: [UInt8]
    /// The bytes after the certificate in the signature field.
    var signatureTail: [UInt8] = []
    var purchaseInfo: [UInt8]
    var environment: String?
    var pod: String?
    var signingStatus: String?
    var hasSignature = true
    var hasPurchaseInfo = true
    /// Further entries, last.
    var extraEntries: [OldStylePropertyList.Entry] = []

    /// The version byte, the signature, the length of the certificate in four bytes, the certificate.
    var signatureField: [UInt8] {
        let length = certificateLength ?? UInt32(truncatingIfNeeded: certificate.count)
        return [version] + signature + withUnsafeBytes(of: length.bigEndian) { Array($0) } + certificate + signatureTail
    }

    /// The whole property list.
    func encoded() -> [UInt8] {
        var entries: [OldStylePropertyList.Entry] = []
        if hasSignature {
            entries.append(Self.base64("signature", signatureField))
        }
        if hasPurchaseInfo {
            entries.append(Self.base64("purchase-info", purchaseInfo))
        }
        for (key, text) in [("environment", environment), ("pod", pod), ("signing-status", signingStatus)] {
            if let text {
                entries.append(OldStylePropertyList.Entry(key, text))
            }
        }
        return OldStylePropertyList.dictionary(entries + extraEntries)
    }

    static func base64(_ key: String, _ bytes: [UInt8]) -> OldStylePropertyList.Entry {
        OldStylePropertyList.Entry(key, raw: Array("\"\(Data(bytes).base64EncodedString())\"".utf8))
    }
}
