import PurchaseVerification

/// `record_continued`: the log that ended, and the reason. It is the first leaf that the new origin signs.
struct RecordContinuedDetails: JournalDetails {
    static var kind: JournalKind { .recordContinued }
    /// The origin that ended.
    var origin: String
    /// The last signed size.
    var size: Int64
    /// The root at that size, in hexadecimal.
    var root: String
    /// The size of the log after the restore.
    var found: Int64
    var newOrigin: String
    var reason: String
    /// The signature of `signedText` by the key of the origin that ended, in base64.
    var signature: String?

    /// The other fields, one a line. It is no checkpoint: those have three lines.
    var signedText: [UInt8] {
        Array("assay record continued 1\n\(origin)\n\(size)\n\(root)\n\(found)\n\(newOrigin)\n\(reason)\n".utf8)
    }

    /// Whether one of the keys is of the origin that ended and signed the continuation.
    func isSigned(by keys: [LogVerifierKey]) -> Bool {
        guard let signature = signature.flatMap({ Base64Form.canonicalBytes(Array($0.utf8)[...]) })
        else { return false }
        return keys.contains { $0.name.isSame(as: origin) && $0.verifies(signature, of: signedText) }
    }
}
