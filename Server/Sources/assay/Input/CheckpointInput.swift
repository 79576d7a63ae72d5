import PurchaseLedger

/// Reads files with checkpoints.
enum CheckpointInput {
    /// Reads and verifies a checkpoint.
    ///
    /// - Throws: `InputError` if the file has none, `LogError` if no trusted key signed it.
    static func read(_ path: String, keys: [LogVerifierKey]) throws -> SignedCheckpoint {
        let note = Array(try InputFile.read(path))
        do throws(LogError) {
            return try SignedCheckpoint(note: note, keys: keys)
        } catch {
            throw InputError(
                path,
                error.code == .malformed
                    ? "not a checkpoint of a log (\(error)); name a file that 'assay serve --checkpoints FILE' wrote"
                    : "\(error)")
        }
    }
}
