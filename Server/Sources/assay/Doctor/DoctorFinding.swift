import Foundation
import TextFormats

/// What one check found about an installation.
struct DoctorFinding: Sendable, Equatable, Encodable {
    /// What was checked; a stable code, such as `database_schema`.
    let check: Check
    let state: State
    /// The facts, as a sentence without a full stop.
    let found: String
    /// What to do, as a sentence; `nil` if nothing has to be done.
    let action: String?

    /// The checks, in the order in which they are shown.
    enum Check: String, Sendable, CaseIterable, Encodable {
        case settings
        case database
        case databaseSchema = "database_schema"
        case databaseWrites = "database_writes"
        case databaseSpace = "database_space"
        case databaseDurability = "database_durability"
        case clock
        case certificates
        case keys
        case listening
        case proxies
        case limits
        case webhooks
        case appStore = "app_store"
        case record
        case checkpoints
        case backups
    }

    enum State: String, Sendable, CaseIterable, Encodable {
        case fine, warning, failed
    }

    private init(_ check: Check, _ state: State, _ found: String, _ action: String?) {
        (self.check, self.state, self.found, self.action) = (check, state, found, action)
    }

    static func fine(_ check: Check, _ found: String) -> DoctorFinding { DoctorFinding(check, .fine, found, nil) }

    static func warning(_ check: Check, _ found: String, do action: String) -> DoctorFinding {
        DoctorFinding(check, .warning, found, action)
    }

    static func failed(_ check: Check, _ found: String, do action: String) -> DoctorFinding {
        DoctorFinding(check, .failed, found, action)
    }
}

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
        return lines.joined()
            + "assay: \(failed) failed, \(counted(warnings, "warning")), \(counted(findings.count, "check"))\n"
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
