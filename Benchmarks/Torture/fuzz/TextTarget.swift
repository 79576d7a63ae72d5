import Foundation
import HostileBytes
import PurchaseVerification

/// Recognition and repair of text encodings.
enum TextTarget {
    static func check(_ bytes: [UInt8]) {
        let evidence: RecognizedEvidence
        do throws(VerificationError) {
            evidence = try RecognizedEvidence(bytes)
        } catch {
            demand(error.code.stage == .form, "\(error.code.rawValue) is no fault of form")
            demand(Verdict(World.shared.warmed, bytes).error == error, "verify refuses otherwise")
            return
        }
        demand(!evidence.bytes.isEmpty, "evidence without bytes")
        demand(evidence.bytes.count <= bytes.count, "evidence that grew")
        switch evidence.encoding {
        case .bare, .compactJWS:
            demand(evidence.bytes == (evidence.form == .appReceipt ? bytes : trimmed(bytes)), "bare bytes were changed")
        case .base64:
            let content = decoded(trimmed(bytes).filter { !(0x09...0x0D).contains($0) && $0 != 0x20 })
            let isList = evidence.form == .transactionReceipt
            demand((isList ? content.map(trimmed) : content) == evidence.bytes, "not base64")
        case .base64WithWhiteSpace, .base64URL, .base64FormDecoded:
            break
        }
        checkAgain(evidence)
    }

    /// The same bytes in plain base64 are recognised as the same.
    private static func checkAgain(_ evidence: RecognizedEvidence) {
        guard evidence.encoding != .bare, evidence.encoding != .compactJWS else { return }
        guard let again = try? RecognizedEvidence(Array(Data(evidence.bytes).base64EncodedData())) else {
            return demand(false, "plain base64 of decoded evidence was refused")
        }
        demand(again.bytes == evidence.bytes && again.kind == evidence.kind, "plain base64 decodes to something else")
        demand(again.encoding == .base64, "plain base64 is called \(again.encoding.rawValue)")
    }

    /// A text without a byte order mark before it, and white space around it.
    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let isWhiteSpace = { (byte: UInt8) in (0x09...0x0D).contains(byte) || byte == 0x20 }
        return text.drop(while: isWhiteSpace).reversed().drop(while: isWhiteSpace).reversed()
    }

    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        Data(base64Encoded: Data(text)).map { [UInt8]($0) }
    }

    /// A sample as clients spell it.
    static func spellings(_ sample: Sample) -> [[UInt8]] {
        // The text decides here, not the receipt, so its start is enough for all spellings except the first.
        let start = Data(sample.bytes.prefix(600))
        let plain = start.base64EncodedString()
        let wrapped = start.base64EncodedString(options: [.lineLength64Characters, .endLineWithCarriageReturn])
        let url = plain.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let texts = [
            plain, wrapped, url, plain.replacing("+", with: " "), " \(plain)\n", "eyJhbGciOiJFUzI1NiJ9.\(url).\(url)",
        ]
        // Starting from whole receipts, a fuzzer rarely reaches almost empty inputs.
        let short: [[UInt8]] = [
            [], [0x20], [0xEF, 0xBB, 0xBF, 0x20], Array("{".utf8), Array("ey..".utf8), [0x30, 0x80],
        ]
        return [sample.evidence] + texts.map { Array($0.utf8) } + short
    }
}
