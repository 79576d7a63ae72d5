import Foundation
import Testing

/// What the program says about settings that it does not take, and that it makes nothing before.
@Suite("assay serve, wrong settings")
struct SettingsMessageTests {
    private static let app = "apps: { game: { bundle_ids: com.example.app } }\n"

    /// The longest label of a host has 63 letters, so no server of names is asked.
    private static let host = String(repeating: "a", count: 64) + ".invalid"

    /// `FOLDER` stands for the folder of the settings, in which `folder` is a folder, `empty` is empty and `garbage` is
    /// no certificate and no key.
    @Test(
        "Each file that cannot be used is reported with its setting, and nothing is made",
        arguments: [
            (
                "server: { answer_key_file: none }",
                "s.yaml: line 1: server.answer_key_file 'FOLDER/none' cannot be read: no such file. Name the file that assay "
                    + "keys signing --for answers makes."
            ),
            ("server: { answer_key_file: empty }", "line 1: server.answer_key_file 'FOLDER/empty' cannot be read"),
            ("server: { answer_key_file: folder }", "answer_key_file 'FOLDER/folder' cannot be read: is a folder"),
            ("server: { answer_key_file: garbage }", "answer_key_file 'FOLDER/garbage' is not such a key"),
            ("server: { tls: { certificate: garbage, key: folder } }", "server.tls.key 'FOLDER/folder': is a folder"),
            ("server: { environments: [Prod] }", "s.yaml: line 1: server.environments has 'Prod', which is not"),
            (
                "server: { host: \(host) }",
                "\(host): the name of the host cannot be resolved; write an address of this machine in server.host"
            ),
            (
                "server: { admin: /nonexistent/x.sock }",
                "/nonexistent/x.sock cannot be listened on (the folder '/nonexistent' does not exist); choose another "
                    + "in server.admin"
            ),
            ("app_store: { tls_trust: none }", "s.yaml: line 1: app_store.tls_trust 'FOLDER/none': no such file"),
            ("app_store: { tls_trust: folder }", "s.yaml: line 1: app_store.tls_trust 'FOLDER/folder': is a folder"),
            ("app_store: { tls_trust: garbage }", "app_store.tls_trust 'FOLDER/garbage' has no certificates in PEM"),
            (
                "app_store: { server_api_production: 'https://', server_api_sandbox: https://example.com }",
                "line 1: app_store.server_api_production is wrong: 'https://' is not a URL of https with a host and without user, "
                    + "password and fragment. Write https://HOST, or"
            ),
            (
                "record: { entry_key: none/key }",
                "record.entry_key: 'FOLDER/none/key' cannot be created, because the folder 'FOLDER/none' does not exist"
            ),
            ("record: { entry_key: garbage }", "record.entry_key: FOLDER/garbage"),
            (
                "record: { signing_key: empty/key }",
                "record.signing_key: 'FOLDER/empty/key' cannot be created, because 'FOLDER/empty' is not a folder"
            ),
            (
                "record: { checkpoints: ['-', none/checkpoint] }",
                "record.checkpoints: 'FOLDER/none/checkpoint' cannot be created, because the folder 'FOLDER/none' does"
            ),
            ("record: { checkpoints: folder }", "record.checkpoints: 'FOLDER/folder' is a folder; name a file in it"),
            (
                "more: { x: 1 }\napp_store: { verify_receipt_sandbox: https://example.com/verifyReceipt }",
                "line 1: the file has no setting 'more'"
            ),
            (
                "app_store: { verify_receipt_sandbox: https://example.com/verifyReceipt }",
                "s.yaml: line 1: app_store has only one of its two addresses of verifyReceipt"
            ),
        ])
    func message(settings: String, message: String) async throws {
        try await Program.inTemporaryFolder { folder in
            let folder = folder.resolvingSymlinksInPath()
            let prepare = "mkdir folder && : >empty && echo garbage >garbage && chmod 600 garbage empty"
            try #require(try await Program.shell(prepare, in: folder).status == 0)
            try "\(settings)\n\(Self.app)".write(
                to: folder.appending(path: "s.yaml"), atomically: true, encoding: .utf8)
            let serve = "timeout 60 assay serve --config s.yaml --port 0"
            let (output, status) = try await Self.run(serve, folder)
            #expect(status == 2 && output.contains(message), "\(output)")
            #expect(!output.contains("ready on") && !output.contains(".new"), "\(output)")
            let made = try await Program.shell("ls", in: folder).output
            #expect(made == "empty\nfolder\ngarbage\ns.yaml\n", "\(made)")
        }
    }

    private static func run(_ command: String, _ folder: URL) async throws -> (output: String, status: Int32) {
        let result = try await Program.shell(command, in: folder)
        return (result.output.replacing(folder.path, with: "FOLDER"), result.status)
    }

    @Test("A file that is not UTF-8 is refused with its line, and one with a byte order mark is read")
    func encoding() async throws {
        try await Program.inTemporaryFolder { folder in
            let latin = #"printf 'apps:\n  game: { bundle_ids: com.example.app } # caf\351\n' >assay.yaml"#
            let refused = try await Program.shell("\(latin); assay list keys", in: folder)
            #expect(refused.status == 2, "\(refused.output)")
            #expect(refused.output.contains("assay: assay.yaml: line 2: the text is not UTF-8"), "\(refused.output)")
            let marked = #"printf '\357\273\277server: { database: "sqlite:marked.sqlite" }\n' >assay.yaml"#
            let read = try await Program.shell("\(marked); assay database migrate", in: folder)
            #expect(read.status == 0 && read.output.contains("marked.sqlite"), "\(read.output)")
        }
    }

    @Test("A place of checkpoints that vanishes is one line in the log, not one for each round")
    func vanishedCheckpoints() async throws {
        try await RecordCommandTests.inFolder { folder in
            let change = "mkdir published && sed -i 's|checkpoints: .*|checkpoints: published/checkpoint|' assay.yaml"
            try #require(try await Program.shell(change, in: folder).status == 0)
            try await RunningServer.run("\(RecordCommandTests.serve) 2>log", in: folder) { server in
                let vanish = "until [ -e published/checkpoint ]; do sleep 0.1; done; rm -r published"
                try #require(try await Program.shell("timeout 60 sh -c '\(vanish)'", in: folder).status == 0)
                try await RecordCommandTests.claim(0, server, folder)
                let count = "grep -c 'the record is not sealed, signed or published' log"
                try await RecordCommandTests.wait {
                    try await Program.shell(count, in: folder).output.hasPrefix("1")
                }
                // Six rounds.
                try await Task.sleep(for: .seconds(3))
                #expect(try await Program.shell(count, in: folder).output == "1\n")
            }
        }
    }

    @Test("Commands that only read make no keys")
    func readers() async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.app.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            try await RunningServer.run("assay serve --port 0 2>log", in: folder) { _ in }
            let elsewhere = "mkdir elsewhere && mv assay.sqlite* elsewhere && cp assay.yaml elsewhere && cd elsewhere"
            for command in ["list webhooks", "list testers", "list orders", "list keys", "list refunds"] {
                let result = try await Program.shell(
                    "[ -d elsewhere ] && cd elsewhere || { \(elsewhere); }; assay \(command) >answer; echo $?; ls",
                    in: folder)
                #expect(
                    result.output.contains("\n0\n") || result.output.hasPrefix("0\n"), "\(command): \(result.output)")
                #expect(!result.output.contains("assay-log.key"), "\(command): \(result.output)")
            }
        }
    }
}
