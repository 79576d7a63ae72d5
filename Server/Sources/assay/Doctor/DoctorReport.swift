import Foundation

/// All findings of an examination, for people and for programs.
struct DoctorReport: Encodable {
    let findings: [DoctorFinding]

    private enum CodingKeys: String, CodingKey {
        case findings, failed, warnings
    }

    var failed: Int { findings.count { $0.state == .failed } }
    var warnings: Int { findings.count { $0.state == .warning } }

    /// One line for each finding, and one for what to do.
    var text: String {
        let width = DoctorFinding.Check.allCases.map(\.rawValue.count).max() ?? 0
        let lines = findings.map { finding in
            let check = finding.check.rawValue.padding(toLength: width, withPad: " ", startingAt: 0)
            let state = finding.state.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
            let action = finding.action.map { "\n\(String(repeating: " ", count: width + 11))\($0.printable)" } ?? ""
            return "\(state)  \(check)  \(finding.found.printable)\(action)\n"
        }
        return lines.joined() + "assay: \(failed) failed, \(warnings) warnings, \(findings.count) checks\n"
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(findings, forKey: .findings)
        try container.encode(failed, forKey: .failed)
        try container.encode(warnings, forKey: .warnings)
    }
}
