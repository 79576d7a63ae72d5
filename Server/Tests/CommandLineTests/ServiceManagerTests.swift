import Foundation
import TestSupport
import Testing

/// What `assay serve` tells the service manager that started it (sd_notify(3)).
@Suite("assay serve, under a service manager")
struct ServiceManagerTests {
    /// Binds the socket of its first argument, and appends each datagram to the file `messages`, a line each.
    private static let receiver = """
        import socket, sys
        name = sys.argv[1]
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(b"\\0" + name[1:].encode() if name.startswith("@") else name)
        open("bound", "w").close()
        while True:
            message = s.recv(4096).decode().replace("\\n", " ")
            with open("messages", "a") as file:
                file.write(message + "\\n")
        """

    private static func wait(for text: String, _ count: Int, in folder: URL) async throws {
        let script =
            "for n in $(seq 1 12000); do [ \"$(grep -c '^\(text)' messages 2>/dev/null)\" -ge \(count) ] && exit; sleep 0.05; done; cat messages log; false"
        let found = try await Program.shell(script, in: folder)
        #expect(found.status == 0, "\(count) of \(text) in \(found.output)")
    }

    private static var isLinux: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    @Test(
        "It says that it is ready, works, reads its settings again, and stops, in that order",
        arguments: isLinux ? [false, true] : [false])
    func states(isAbstract: Bool) async throws {
        try await Program.inTemporaryFolder { folder in
            let socket = isAbstract ? "@" + folder.lastPathComponent : folder.path + "/notify"
            try Self.receiver.write(to: folder.appending(path: "receive.py"), atomically: true, encoding: .utf8)
            try "server: { log_level: info }\n".write(
                to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let receiver = ChildProcess()
            (receiver.arguments, receiver.folder) = (["-c", "exec python3 receive.py \(socket)"], folder)
            receiver.environment = ["PATH": Program.path]
            try receiver.run()
            defer { receiver.terminate() }
            let bound = "for n in $(seq 1 12000); do [ -e bound ] && exit; sleep 0.05; done; false"
            try #require(try await Program.shell(bound, in: folder).status == 0)
            let environment = ["NOTIFY_SOCKET": socket, "WATCHDOG_USEC": "200000"]
            let status = try await RunningServer.run(
                "assay serve --port 0 2>log", in: folder, environment: environment
            ) { server in
                try await Self.wait(for: "READY=1", 1, in: folder)
                try await Self.wait(for: "WATCHDOG=1", 3, in: folder)
                kill(server.processIdentifier, SIGHUP)
                try await Self.wait(for: "READY=1", 2, in: folder)
            }
            #expect(status == 0)
            try await Self.wait(for: "STOPPING=1", 1, in: folder)
            let messages = try await Program.shell("grep -v WATCHDOG messages", in: folder).output
            let lines = messages.split(separator: "\n").map { $0.prefix { $0 != "=" } }
            #expect(lines == ["READY", "RELOADING", "READY", "STOPPING"], "\(messages)")
            #expect(messages.contains("RELOADING=1 MONOTONIC_USEC="), "\(messages)")
        }
    }

    @Test("It sends no sign of life if none is expected of this process, and needs no manager to serve")
    func without() async throws {
        try await Program.inTemporaryFolder { folder in
            // Nothing listens there.
            let environment = [
                "NOTIFY_SOCKET": folder.path + "/none", "WATCHDOG_USEC": "200000", "WATCHDOG_PID": "1",
            ]
            let status = try await RunningServer.run(
                "assay serve --port 0 2>log", in: folder, environment: environment
            ) { server in
                let answer = try await Program.shell("curl -sS \(server.address)/readyz", in: folder)
                #expect(answer.output == #"{"status":"ready"}"#)
            }
            #expect(status == 0)
            let log = try await Program.shell("grep -c 'did not get a message' log", in: folder)
            // One about the start, one about the end.
            #expect(log.output == "2\n", "\(log.output)")
        }
    }
}
