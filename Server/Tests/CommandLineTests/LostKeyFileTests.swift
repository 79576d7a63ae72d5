import Foundation
import TestSupport
import Testing

/// The loss of a machine whose heads of the signing key are in no backup, as docs/operations.md describes it.
@Suite("Lost files of the signing key")
struct LostKeyFileTests {
    private static func output(_ command: String, _ folder: URL) async throws -> Program.Result {
        try await RecordCommandTests.output(command, folder)
    }

    /// A folder with a backup `b.sqlite`, a later checkpoint, and no server.
    private static func inFolder(_ body: (URL) async throws -> Void) async throws {
        try await RecordCommandTests.inFolder { folder in
            try await RunningServer.run(RecordCommandTests.serve, in: folder) {
                try await RecordCommandTests.claim(0, $0, folder)
            }
            let backup = try await output("database backup b.sqlite", folder)
            try #require(backup.status == 0, "\(backup.output)")
            try await RunningServer.run(RecordCommandTests.serve, in: folder) {
                try await RecordCommandTests.claim(1, $0, folder)
            }
            try await body(folder)
        }
    }

    @Test("With the backup, both keys and a published checkpoint, a lost machine is restored without its heads")
    func lostMachine() async throws {
        try await Self.inFolder { folder in
            let key = try await Self.output("keys signing --for log", folder).output
            let lost = "rm -f assay.sqlite*; cp b.sqlite assay.sqlite; rm assay-log.key.heads; mv checkpoint lost"
            _ = try await Program.shell(lost, in: folder)
            // Each command names the file and the way out.
            for (command, status) in [
                ("serve --port 0", 2), ("audit continue --reason lost", 2), ("audit verify", 1),
                ("audit verify --checkpoint lost", 1),
            ] {
                let refused = try await Self.output(command, folder)
                #expect(refused.status == status, "\(command): \(refused.output)")
                for part in ["log_heads_missing", "assay-log.key.heads", "audit continue --checkpoint"] {
                    #expect(refused.output.contains(part), "\(command): \(refused.output)")
                }
            }
            let doctor = try await Self.output("doctor --no-deliveries", folder)
            #expect(doctor.status == 1 && doctor.output.contains("log_heads_missing"), "\(doctor.output)")
            let printed = try await Self.output("keys signing --for log", folder)
            #expect(printed.status == 0 && printed.output == key, "\(printed.output)")
            let copy = try await Self.output("database backup --verify again.sqlite", folder)
            #expect(copy.status == 0 && copy.output.contains("log_heads_missing"), "\(copy.output)")
            let continued = try await Self.output(
                "audit continue --checkpoint lost --reason 'lost machine' 2>/dev/null", folder)
            #expect(continued.status == 0 && continued.output.hasPrefix("example.com/assay/2+"), "\(continued.output)")
            try await RunningServer.run(RecordCommandTests.serve, in: folder) {
                try await RecordCommandTests.claim(1, $0, folder)
            }
            #expect(RecordCommandTests.published(folder) > 0)
            let old = key.trimmingCharacters(in: .whitespacesAndNewlines)
            let audit = try await Self.output(
                "audit verify --evidence --checkpoint lost --checkpoint checkpoint --key '\(old)'", folder)
            #expect(audit.status == 0 && audit.output.contains("lost machine"), "\(audit.output)")
        }
    }

    @Test("If only the key is missing, each command says so, and a new key is made once the heads are moved away")
    func lostKey() async throws {
        try await Self.inFolder { folder in
            _ = try await Program.shell("mv assay-log.key kept", in: folder)
            for command in ["serve --port 0", "keys signing --for log", "audit continue --reason lost"] {
                let refused = try await Self.output(command, folder)
                #expect(refused.status == 2, "\(command): \(refused.output)")
                #expect(refused.output.contains("log_signing_key_missing"), "\(command): \(refused.output)")
            }
            let doctor = try await Self.output("doctor --no-deliveries", folder)
            #expect(doctor.status == 1 && doctor.output.contains("log_signing_key_missing"), "\(doctor.output)")
            _ = try await Program.shell("mv assay-log.key.heads assay-log.key.heads.lost", in: folder)
            try await RunningServer.run(RecordCommandTests.serve, in: folder) {
                try await RecordCommandTests.claim(2, $0, folder)
            }
            let audit = try await Self.output("audit verify --checkpoint checkpoint", folder)
            #expect(audit.status == 0, "\(audit.output)")
        }
    }
}
