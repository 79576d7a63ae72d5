import ArgumentParser
import Foundation
import PurchaseLedger
import TextFormats

/// `assay audit check`.
struct CheckProof: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Verifies the proof of an entry, without a database.",
        discussion: """
            It verifies the checkpoint's signature under a key that you name, that the entry is in the signed tree, and \
            that details and evidence are those of the entry. --evidence writes the evidence, which 'assay verify' \
            verifies: the log proves that it was recorded, and Apple's signature proves its content.

            Exit status: 0 if the proof holds, 1 if it does not, 2 for wrong usage or I/O.
            """)

    @Argument(help: "The file of the proof; - is standard input.")
    var proof: String

    @OptionGroup var keys: LogKeyOption

    @Option(name: .long, help: "The file to write the evidence to.")
    var evidence: String?

    func validate() throws {
        guard !keys.key.isEmpty else {
            throw ValidationError("Name the key of the log with --key; 'assay keys signing --for log' prints it.")
        }
    }

    func run() async throws {
        let trusted = try keys.keys()
        let json = Array(try InputFile.read(proof))
        let proven: ProvenEntry
        do throws(LogError) {
            proven = try EntryProof(json: json).verify(keys: trusted)
        } catch {
            Terminal.complain("\(proof): \(error)")
            throw error.code == .malformed ? ExitCode.unusable : ExitCode.rejected
        }
        if let evidence { try write(proven, to: evidence) }
        Terminal.write(Self.text(proven))
    }

    private func write(_ proven: ProvenEntry, to path: String) throws {
        guard let bytes = proven.evidence else { throw InputError(path, "the proof has no evidence") }
        do {
            try OutputFile.write(Data(bytes), to: path)
        } catch {
            throw InputError(path, "cannot be written")
        }
    }

    private static func text(_ proven: ProvenEntry) -> String {
        let (entry, checkpoint) = (proven.entry, proven.checkpoint)
        var lines = [
            "entry     \(entry.id.uuidString.lowercased())",
            "kind      \(entry.kind.name)" + (entry.code.isEmpty ? "" : ", \(entry.code.printable)"),
            "time      \(entry.at)", "app       \(entry.app.printable)",
            "leaf      \(proven.leafNumber) of \(checkpoint.size), \(checkpoint.origin.printable)",
        ]
        if let sha256 = entry.evidence {
            let state = proven.evidence.map { ", \(counted($0.count, "byte"))" } ?? ", erased"
            lines.append("evidence  SHA-256 \(sha256.hexadecimal)\(state)")
        }
        if let details = proven.details {
            lines.append("details   \(String(decoding: details, as: UTF8.self).printable)")
        }
        return lines.joined(separator: "\n") + "\nassay: the proof holds\n"
    }
}
