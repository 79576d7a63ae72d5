import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseLedger

/// `assay audit evidence`.
struct WriteEvidence: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "evidence", abstract: "Writes a piece of evidence as it was sent, such as a receipt in a dispute.",
        discussion: """
            Submissions and the export name evidence by its SHA-256, as evidence_sha256. 'assay inspect' reads the output.
            """)

    @OptionGroup var options: LedgerDatabaseOptions

    @Argument(help: "The SHA-256 of the evidence, in hexadecimal digits.")
    var sha256: String

    @Option(name: [.short, .long], help: "The file to write; without it, standard output.")
    var output: String?

    func run() async throws {
        guard let hash = Self.hash(sha256) else {
            throw ValidationError("'\(sha256)' is not a SHA-256: write 64 hexadecimal digits.")
        }
        try await options.withLedger(.reading) { ledger in
            guard let bytes = try await ledger.answer(EvidenceByHash(sha256: hash)) else {
                throw InputError(sha256, "there is no such evidence, or it was erased")
            }
            guard let output, output != "-" else { return Terminal.write(bytes) }
            do {
                try OutputFile.write(Data(bytes), to: output)
            } catch {
                throw InputError(output, "cannot be written")
            }
        }
    }

    private static func hash(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
