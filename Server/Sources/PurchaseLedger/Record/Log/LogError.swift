/// An error of the Merkle log: its keys, its checkpoints, its proofs.
public struct LogError: Error, Sendable, Equatable {
    /// The code, which is stable.
    public let code: Code
    /// The finding and the action to take, as a sentence.
    public let detail: String

    /// Creates an error with its finding.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The codes.
    public enum Code: String, Sendable, CaseIterable {
        /// A key, a note or a checkpoint has the wrong format.
        case malformed = "log_malformed"
        /// A known key's signature does not verify.
        case signatureInvalid = "log_signature_invalid"
        /// No signature is by a known key.
        case keyUnknown = "log_key_unknown"
        /// A file to be created already exists.
        case fileExists = "log_file_exists"
        /// A file does not exist.
        case fileMissing = "log_file_missing"
        /// There is a signing key, and the file that lists what it signed is missing.
        case headsMissing = "log_heads_missing"
        /// There is a list of what a signing key signed, and the key is missing.
        case signingKeyMissing = "log_signing_key_missing"
        /// Users other than the owner can read a file with a secret.
        case fileMode = "log_file_mode"
        /// A file cannot be read or written.
        case fileFailed = "log_file_failed"
        /// The database has entries of a key whose file is missing.
        case entryKeyMissing = "entry_key_missing"
        /// The database has entries of another key.
        case entryKeyDiffers = "entry_key_differs"
        /// The settings name another origin than that of the signing key.
        case originDiffers = "log_origin_differs"
        /// Another process signs with this key.
        case signerBusy = "log_signer_busy"
        /// The log at a signed size differs from the signed tree.
        case rewritten = "record_rewritten"
        /// The log is shorter than a signed tree.
        case shorter = "record_shorter_than_checkpoint"
        /// No checkpoint covers the entry yet.
        case notSealed = "entry_not_sealed"
        /// The entry was not written by a server that has the key.
        case notAuthentic = "entry_not_authentic"
        /// The journal has no such entry.
        case entryUnknown = "entry_unknown"
        /// The log extends the last signed tree; no origin has to be ended.
        case notInterrupted = "record_not_interrupted"
        /// A proof does not prove its entry, or the growth of the log.
        case proofInvalid = "log_proof_invalid"
    }
}

extension LogError: CustomStringConvertible {
    public var description: String { "\(code.rawValue): \(detail)" }
}
