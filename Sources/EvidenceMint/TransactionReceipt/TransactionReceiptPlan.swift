import Foundation

/// Everything that determines a transaction receipt, before it is signed. Faults change it.
struct TransactionReceiptPlan {
    var template: TransactionReceiptTemplate
    let version: TransactionReceiptVersion
    /// The version byte that is written and signed.
    var versionByte: UInt8
    var issuer: SigningIdentity
    var leaf: SigningIdentity
    /// The trust anchor far above the leaf.
    let root: SigningIdentity
    var digest: ReceiptDigest
    /// The key to sign with in place of the leaf's.
    var signerKey: SigningKey?
    /// The bytes that are signed in place of the template's.
    var purchaseInfo: [UInt8]?

    init(template: TransactionReceiptTemplate, version: TransactionReceiptVersion, authority: AppStoreAuthority) {
        (self.template, self.version) = (template, version)
        versionByte = version.rawValue
        issuer = authority.transactionReceiptIssuer(version)
        leaf = authority.transactionReceiptLeaf(version)
        root = authority.receipts.root
        digest = version.digest
    }

    /// Signs the version byte and the bytes after it.
    func message() throws -> TransactionReceiptMessage {
        let purchaseInfo = purchaseInfo ?? template.purchaseInfo()
        let key = signerKey ?? leaf.privateKey
        return TransactionReceiptMessage(
            version: versionByte, signature: try key.signature(of: [versionByte] + purchaseInfo, digest: digest),
            certificate: leaf.certificate, purchaseInfo: purchaseInfo, environment: template.environment,
            pod: template.pod, signingStatus: template.signingStatus)
    }
}

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
        if hasSignature { entries.append(Self.base64("signature", signatureField)) }
        if hasPurchaseInfo { entries.append(Self.base64("purchase-info", purchaseInfo)) }
        for (key, text) in [("environment", environment), ("pod", pod), ("signing-status", signingStatus)] {
            if let text { entries.append(OldStylePropertyList.Entry(key, text)) }
        }
        return OldStylePropertyList.dictionary(entries + extraEntries)
    }

    static func base64(_ key: String, _ bytes: [UInt8]) -> OldStylePropertyList.Entry {
        OldStylePropertyList.Entry(key, raw: Array("\"\(Data(bytes).base64EncodedString())\"".utf8))
    }
}

/// Writes dictionaries in the old style of property lists (ASCII, from NeXTSTEP), laid out as Apple's receipts are: a
/// tab before each entry, a line for each, quotes around keys and values, nothing after the last brace.
enum OldStylePropertyList {
    struct Entry {
        let key: String
        let value: Value

        init(_ key: String, _ text: String) {
            self.key = key
            value = .text(text)
        }

        init(_ key: String, raw: [UInt8]) {
            self.key = key
            value = .raw(raw)
        }
    }

    enum Value {
        /// Written between quotes.
        case text(String)
        /// Written unchanged.
        case raw([UInt8])
    }

    static func dictionary(_ entries: [Entry]) -> [UInt8] {
        var bytes = Array("{\n".utf8)
        for entry in entries {
            bytes.append(UInt8(ascii: "\t"))
            append(entry.key, to: &bytes)
            bytes += Array(" = ".utf8)
            switch entry.value {
            case .text(let text): append(text, to: &bytes)
            case .raw(let raw): bytes += raw
            }
            bytes += Array(";\n".utf8)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    static func nestedLists(depth: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "("), count: depth) + [UInt8](repeating: UInt8(ascii: ")"), count: depth)
    }

    /// Quotes and backslashes are escaped with a backslash. No value of a genuine receipt is known to need one.
    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
