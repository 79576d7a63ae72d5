import Foundation
import Synchronization
import TestSupport
import Testing

/// `assay database copy --app`, as processes that are killed, beside a server of the other app.
@Suite("assay database copy --app")
struct MoveAppCommandTests {
    private static let steps = [
        "everything was checked", "answer for it no more", "checkpoint covers that", "was computed", "target equals it",
        "source names the target",
    ]

    private static func output(_ command: String, _ folder: URL) async throws -> Program.Result {
        try await Program.shell("assay \(command)", in: folder)
    }

    /// A claim of the other app, or of the app that moves; the answer and the status.
    private static func claim(
        _ name: String, product: String, key: String, _ server: RunningServer, _ folder: URL
    ) async throws -> String {
        let claim = """
            printf '{"receipt_data":"%s","product_id":"\(product)","transaction_id":"\(name)","customer_id":"alice"}' \
            "$(cat \(name).b64)" > \(name).json
            curl -sS -w ' %{http_code}' -H "Authorization: Bearer $(cat \(key))" --data @\(name).json \
            \(server.address)/v1/purchases
            """
        return try await Program.shell(claim, in: folder).output
    }

    @Test("An app moves from one cluster to another under kill -9, while the other app buys")
    func clusters() async throws {
        try await ThrowawayPostgreSQL.withDatabase { place in
            try await ThrowawayPostgreSQL.withServer { server async throws in
                let there = try await server.create("game").url()
                try await RecordCommandTests.inFolder { folder async throws in
                    try await Self.move(from: place.url(), to: there, folder)
                }
            }
        }
    }

    private static func move(from: String, to: String, _ folder: URL) async throws {
        let prepare = """
            printf '\\n  shop:\\n    bundle_ids: com.example.shop\\n' >> assay.yaml
            printf '    products: { gems: { kind: consumable } }\\n' >> assay.yaml
            for n in 0 1 2 3; do cp r$n.b64 p$n.b64; done
            assay database copy --from sqlite:assay.sqlite --to '\(from)' || exit 1
            assay keys create --app shop --scope admin --database '\(from)' 2>/dev/null > shop
            mkdir tmp
            """
        let prepared = try await Program.shell(prepare, in: folder)
        try #require(prepared.status == 0, "\(prepared.output)")
        // The temporary files are in one folder that others cannot read.
        let files = "ls tmp; stat -c %a tmp/* 2>/dev/null"
        let command =
            "TMPDIR=$PWD/tmp assay database copy --app game --from '\(from)' --to '\(to)' --origin example.com/game "
            + "--moved-to https://game.example.com"
        let serve = RecordCommandTests.serve + " --database"
        try await RunningServer.run("\(serve) '\(from)'", in: folder) { server async throws in
            for number in 0..<2 { try await RecordCommandTests.claim(number, server, folder) }
            // The shop buys all the time.
            let bought = Mutex(0)
            let isMoved = Mutex(false)
            let buying = Task {
                while !isMoved.withLock(\.self) {
                    let name = "s\(bought.withLock(\.self))"
                    let mint = "mint --kind production --bundle-id com.example.shop -o \(name).b64 --purchase "
                    _ = try await output(mint + "product=gems,kind=consumable,transaction=\(name)", folder)
                    let answer = try await claim(name, product: "gems", key: "shop", server, folder)
                    #expect(answer.hasSuffix(" 200"), "\(name): \(answer)")
                    bought.withLock { $0 += 1 }
                }
            }
            // Killed after each step, it is run again.
            for words in Self.steps {
                let script = """
                    : > moved; \(command) >moved 2>&1 & p=$!
                    while kill -0 $p 2>/dev/null && ! grep -q '\(words)' moved; do sleep 0.02; done
                    kill -KILL $p 2>/dev/null; wait $p 2>/dev/null; cat moved
                    """
                let output = try await Program.shell(script, in: folder).output
                #expect(output.contains(words), "\(output)")
                let left = try await Program.shell(files, in: folder).output.split(separator: "\n")
                #expect(
                    left.isEmpty || left.count == 2 && left[0].hasPrefix("assay-move-") && left[1] == "700", "\(left)")
                let before = bought.withLock(\.self)
                try await RecordCommandTests.wait { bought.withLock(\.self) > before }
            }
            isMoved.withLock { $0 = true }
            try await buying.value
            let moved = try await Program.shell(command, in: folder)
            #expect(moved.status == 0 && moved.output.contains("moved into this database before"), "\(moved.output)")
            #expect(try await Program.shell(files, in: folder).output == "")
            let refused = try await claim("p2", product: "coins", key: "key", server, folder)
            #expect(refused.hasSuffix(" 503") && refused.contains("app_moved"), "\(refused)")
            #expect(refused.contains("https://game.example.com"), "\(refused)")
        }
        let old = try await output("audit verify --evidence --checkpoint checkpoint --database '\(from)'", folder)
        #expect(old.status == 0 && old.output.contains("0 findings"), "\(old.output)")
        let new = folder.appending(path: "new")
        let settle = """
            mkdir new; cp -r assay-authority assay-entries.key key r?.b64 p?.b64 new; cd new
            sed -e 's,example.com/assay,example.com/game,' -e '/^  shop/,$d' ../assay.yaml > assay.yaml
            """
        #expect(try await Program.shell(settle, in: folder).status == 0)
        try await RunningServer.run("\(serve) '\(to)'", in: new) { server async throws in
            let again = try await claim("p1", product: "coins", key: "key", server, new)
            #expect(again.hasSuffix(" 200") && again.contains(#""replayed":true"#), "\(again)")
            try await RecordCommandTests.claim(2, server, new)
            try await RecordCommandTests.wait { RecordCommandTests.published(new) > 3 }
        }
        let audit = try await output("audit verify --evidence --checkpoint checkpoint --database '\(to)'", new)
        #expect(audit.status == 0 && audit.output.contains("0 findings"), "\(audit.output)")
        #expect(audit.output.contains("which moved out of example.com/assay"), "\(audit.output)")
        for usage in [
            "--app game --to sqlite:x.sqlite", "--to sqlite:x.sqlite --origin a", "--app game",
            "--reopen --discard-target", "--to sqlite:x.sqlite --accept-differences 3",
        ] {
            #expect(try await output("database copy --from '\(from)' \(usage)", folder).status == 2, "\(usage)")
        }
        let reopen = "database copy --from '\(from)' --app game --reopen"
        let kept = try await output(reopen, folder)
        #expect(kept.status == 1 && kept.output.contains("copy_app_moved"), "\(kept.output)")
        let reopened = try await output(reopen + " --discard-target", folder)
        #expect(reopened.status == 0, "\(reopened.output)")
    }
}
