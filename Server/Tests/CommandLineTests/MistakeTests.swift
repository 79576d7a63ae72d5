import Foundation
import Testing

@Suite("Mistakes on the command line")
struct MistakeTests {
    @Test(
        "Each mistake ends with status 2 and names what to do instead",
        arguments: [
            ("assay verfy receipt", "there is no command 'verfy'; did you mean 'verify'?"),
            ("assay serv", "did you mean 'serve'?"),
            ("assay keys creat --app game", "there is no command 'keys creat'; did you mean 'create'?"),
            ("assay simulate attack", "there is no command 'simulate attack'; did you mean 'attacks'?"),
            ("assay audit verfy", "'assay audit --help' lists all commands"),
            (
                "assay serve --port 0 --environment sandbx",
                "--environment has 'sandbx', which is not an environment of Apple"
            ),
            (
                "assay keys create --app a --scope client 2>/dev/null; echo no checkpoint > file; assay audit verify --checkpoint file",
                "file: not a checkpoint of a log"
            ),
            ("assay frobnicate", "there is no command 'frobnicate'; 'assay --help' lists all commands"),
            ("assay verify --bundel-id x receipt", "Did you mean '--bundle-id'?"),
            ("assay serve --port 0 --database sqlite:missing/assay.sqlite", "does not exist; create it"),
            ("mkdir taken && assay serve --port 0 --database sqlite:taken", "taken/assay.sqlite"),
            ("touch file && assay serve --port 0 --database sqlite:file/assay.sqlite", "is a file, not a folder"),
            ("mkdir empty && assay verify empty", "the folder has no files"),
            ("assay verify missing", "no such file"),
            ("assay serve --log-format xml", "--log-format is 'xml'. Choose one of text, json"),
            ("assay mint --kind xcode --fault bad-signature", "See 'assay mint --help'"),
        ])
    func mistakes(command: String, words: String) async throws {
        try await Program.inTemporaryFolder { folder in
            // A start that is not refused would run until it is ended.
            let result = try await Program.shell("timeout 120 sh -c \"\(command)\"", in: folder)
            #expect(result.status == 2, "\(result.output)")
            #expect(result.output.contains(words), "\(result.output)")
        }
    }

    @Test("A key for an app that is not recorded is created with a warning; if settings are given, the name is checked")
    func unknownApp() async throws {
        try await Program.inTemporaryFolder { folder in
            let warned = try await Program.shell("assay keys create --app game --scope client", in: folder)
            #expect(warned.status == 0 && warned.output.contains("was not checked"), "\(warned.output)")
            try "apps:\n  game: { bundle_ids: com.example.app }\n".write(
                to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let known = try await Program.shell("assay keys create --app game --scope client", in: folder)
            #expect(known.status == 0 && !known.output.contains("was not checked"), "\(known.output)")
            let typed = try await Program.shell("assay keys create --app gane --scope client", in: folder)
            #expect(typed.status == 2 && typed.output.contains("there are game"), "\(typed.output)")
        }
    }

    @Test("A folder is replaced by its files, at any depth and in order, without hidden ones")
    func folders() async throws {
        try await Program.inTemporaryFolder { folder in
            let result = try await Program.shell(
                "mkdir -p all/deep all/.hidden && for f in b deep/a .secret .hidden/c a; do echo x > all/$f; done && "
                    + "ln -s .. all/deep/loop && assay verify --json all | python3 -c '\(Self.sources)'", in: folder)
            #expect(result.output == "all/a all/b all/deep/a\n", "\(result.output)")
        }
    }

    private static let sources = "import json, sys; print(*[json.loads(line)[\"source\"] for line in sys.stdin])"
}
