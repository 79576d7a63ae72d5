import Foundation
import TestSupport
import Testing

@Suite("A stream of events whose server and whose reader are killed")
struct EventStreamRestartTests {
    /// Appends the id of each event to `streamed`, and connects again after the last one, to the address in `address`.
    private static let reader = """
        import http.client, os, sys, time
        print('http://127.0.0.1:0', flush=True)
        key = open('key').read().strip()
        while True:
            ids = open('streamed').read().split('\\n')[:-1] if os.path.exists('streamed') else []
            try:
                address = open('address').read().strip().removeprefix('http://')
                connection = http.client.HTTPConnection(address, timeout=30)
                connection.request('GET', '/v1/events/stream', headers={
                    'Authorization': 'Bearer ' + key, 'Last-Event-ID': ids[-1] if ids else '0'})
                answer = connection.getresponse()
                if answer.status != 200: raise OSError(answer.read())
                id, data = '', False
                for line in answer:
                    if line.startswith(b'id: '): id = line[4:].decode().strip()
                    elif line.startswith(b'data: '): data = True
                    elif line == b'\\n' and data:
                        with open('streamed', 'a') as file: file.write(id + '\\n')
                        data = False
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
        """

    private static let list = """
        cursor=MA; while :; do curl -sSf -H "Authorization: Bearer $(cat key)" "$(cat address)/v1/events?limit=500&cursor=$cursor" \
        >page || exit 1; python3 -c 'import json; [print(one["id"]) for one in json.load(open("page"))["events"]]' >ids
        [ -s ids ] || break; cat ids; cursor=$(python3 -c 'import json; print(json.load(open("page"))["next_cursor"])'); done
        """

    private static func streamed(_ folder: URL) throws -> [Substring] {
        let path = folder.appending(path: "streamed")
        guard FileManager.default.fileExists(atPath: path.path) else { return [] }
        return try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
    }

    @Test("No event is missing, none comes twice, and their order is that of the list")
    func killed() async throws {
        try await Program.inTemporaryFolder { folder in
            try "apps:\n  game: { bundle_ids: com.example.app, products: { coins: { kind: consumable } } }\n".write(
                to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            try Self.reader.write(to: folder.appending(path: "reader.py"), atomically: true, encoding: .utf8)
            _ = try await Program.shell("assay keys create --app game --scope admin 2>/dev/null >key", in: folder)
            for round in 1...4 {
                try await RunningServer.run("assay serve --port 0 2>>log", in: folder) { server in
                    _ = try await Program.shell("echo \(server.address) >new && mv new address", in: folder)
                    try await RunningServer.run("python3 reader.py", in: folder) { reader in
                        let orders = """
                            seq \(round)000 \(round)300 | xargs -P 8 -I{} curl -sS -o /dev/null -H \
                            "Authorization: Bearer $(cat key)" -H 'Idempotency-Key: {}' --data '{"customer_id":"{}","product_id":"coins"}' \
                            \(server.address)/v1/orders 2>/dev/null
                            """
                        let before = try Self.streamed(folder).count
                        async let posted = Program.shell(orders, in: folder)
                        try await RecordCommandTests.wait { try Self.streamed(folder).count >= before + 100 }
                        let victim = round.isMultiple(of: 2) ? reader : server
                        if round < 4 {
                            _ = try await Program.shell("kill -KILL \(victim.processIdentifier)", in: folder)
                        }
                        _ = try await posted
                        guard round == 4 else { return }
                        let listed = try await Program.shell(Self.list, in: folder).output.split(separator: "\n")
                        #expect(listed.count > 400)
                        try await RecordCommandTests.wait { try Self.streamed(folder).count >= listed.count }
                        #expect(try Self.streamed(folder) == listed)
                    }
                }
            }
        }
    }
}
