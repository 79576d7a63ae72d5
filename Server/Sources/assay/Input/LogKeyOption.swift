import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer

/// The public keys of logs that a command trusts.
struct LogKeyOption: ParsableArguments {
    @Option(
        name: .long,
        help:
            "The public key of a log, as 'assay keys signing --for log' prints it, or a file with it. Repeat for several."
    )
    var key: [String] = []

    /// The keys of the option, and the one of this server.
    func keys(own: LogVerifierKey? = nil) throws -> [LogVerifierKey] {
        var keys = own.map { [$0] } ?? []
        for text in key { keys.append(try Self.verifierKey(text)) }
        return keys
    }

    private static func verifierKey(_ text: String) throws -> LogVerifierKey {
        do throws(LogError) {
            return try LogVerifierKey(text: Array(text.utf8))
        } catch {
            guard FileManager.default.fileExists(atPath: text) else {
                throw ValidationError("--key is '\(text.printable)': \(error.detail)")
            }
        }
        let content = Array(try InputFile.read(text))
        do throws(LogError) {
            return try LogVerifierKey(text: content.last == 0x0A ? content.dropLast() : content[...])
        } catch {
            throw InputError(text, "\(error)")
        }
    }
}

/// The signing key of the log.
struct SigningKeyOption: ParsableArguments {
    @Option(help: ArgumentHelp(ServerSetting.signingKey.help)) var signingKey: String?

    func keys(_ options: LedgerDatabaseOptions) throws -> RecordKeys {
        try options.place(options: ["--signing-key": signingKey.map { [$0] } ?? []]).recordKeys
    }
}

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
