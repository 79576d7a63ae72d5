import PurchaseVerification

/// A checkpoint with its signatures.
public struct SignedCheckpoint: Sendable, Equatable {
    /// The signed text.
    public let checkpoint: Checkpoint
    /// The signed note, as it is published.
    public let note: [UInt8]

    /// Reads and verifies a signed checkpoint.
    ///
    /// - Parameters:
    ///   - note: the bytes of the signed note.
    ///   - keys: the trusted keys. A key counts only for the origin of its name.
    /// - Throws: `malformed`, `signatureInvalid`, `keyUnknown`.
    public init(note: [UInt8], keys: [LogVerifierKey]) throws(LogError) {
        let signed = try SignedNote(note)
        let checkpoint = try Checkpoint(text: signed.text)
        try signed.verify(keys.filter { $0.name.isSame(as: checkpoint.origin) })
        self.checkpoint = checkpoint
        self.note = note
    }

    /// A checkpoint that was just signed.
    init(_ checkpoint: Checkpoint, by key: LogVerifierKey, signature: [UInt8]) {
        self.checkpoint = checkpoint
        note = SignedNote.bytes(checkpoint.text, name: key.name, keyID: key.id, signature: signature)
    }
}
