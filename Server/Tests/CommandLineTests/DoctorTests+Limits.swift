import Foundation
import Testing

extension DoctorTests {
    @Test("Requests that a limit refused today are counted, on every route")
    func limits() async throws {
        let settings = Self.settings + "\nlimits: { per_address: { per_second: 1, burst: 2 } }\n"
        try await Self.installation(settings) { folder in
            try await RunningServer.run("assay serve 2>log", in: folder) { server in
                let statuses = try await Program.shell(
                    "curl -s -o /dev/null -w '%{http_code} ' '\(server.address)/v1/orders/[1-100]'", in: folder)
                let refused = statuses.output.split(separator: " ").count { $0 == "429" }
                #expect(refused > 0 && statuses.output.hasPrefix("401 401 "), "\(statuses.output)")
                let port = try #require(URL(string: server.address)?.port)
                try Self.write(settings.replacing("port: 0", with: "port: \(port)"), folder)
                let (report, status) = try await Self.examine(folder)
                let finding = report.finding("limits", "warning")
                let expected = "answered with 429 today: \(refused) rate_limited"
                #expect(status == 0 && finding?.found == expected, "\(report)")
            }
        }
    }

    @Test("A backend's key that claims from many networks is a warning, and an app's key is none")
    func spreadKey() async throws {
        let settings = Self.settings.replacing("port: 0", with: "port: 0, trusted_proxies: [127.0.0.1]")
        try #require(settings != Self.settings)
        try await Self.installation(settings) { folder in
            for scope in ["client", "backend"] {
                let script = """
                    key=$(assay keys create --app game --scope \(scope) 2>/dev/null | grep -o 'assay_[^ ]*')
                    for n in $(seq 17); do
                      curl -s -o /dev/null -w '%{http_code} ' -H "Authorization: Bearer $key" \
                        -H "X-Forwarded-For: 192.0.$n.1" $ADDRESS/v1/purchases \
                        -d '{"receipt_data":"bm8=","product_id":"a","transaction_id":"1","customer_id":"c"}'
                    done
                    """
                try await RunningServer.run("assay serve 2>log", in: folder) { server in
                    let sent = try await Program.shell("ADDRESS=\(server.address); \(script)", in: folder).output
                    #expect(sent == String(repeating: "422 ", count: 17), "\(sent)")
                }
                let (report, _) = try await Self.examine(folder)
                let found = report.finding("limits", "warning")?.found ?? ""
                #expect(found.contains("claims from 17 networks") == (scope == "backend"), "\(report)")
            }
        }
    }

    /// Mounts a file system of 64 MiB during the body.
    private static func withSmallDisk(_ folder: URL, _ body: () async throws -> Void) async throws {
        let disk = folder.appending(path: "disk")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        let mount = try await Program.shell("mount -t tmpfs -o size=64m tmpfs \(disk.path) 2>&1", in: folder)
        try #require(mount.status == 0, "\(mount.output)")
        do {
            try await body()
        } catch {
            _ = try await Program.shell("umount -l \(disk.path)", in: folder)
            throw error
        }
        _ = try await Program.shell("umount -l \(disk.path)", in: folder)
    }

    /// Whether this process has the right to mount a file system.
    private static func canMount() -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "d=$(mktemp -d) && mount -t tmpfs tmpfs $d 2>/dev/null && umount $d && rmdir $d"]
        do {
            try process.run()
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    @Test(
        "A disk that is 99 % full: its space fails, and once nothing fits, so does the test write",
        .enabled(if: canMount(), "only root can mount a small file system"))
    func fullDisk() async throws {
        try await Self.installation { folder in
            try await Self.withSmallDisk(folder) {
                let copied = try await Program.shell(
                    "cp assay.sqlite* disk/", in: folder)
                try #require(copied.status == 0, "\(copied.output)")
                let options = "--database sqlite:disk/assay.sqlite"
                _ = try await Program.shell("head -c 66060288 /dev/zero > disk/other 2>/dev/null", in: folder)
                _ = try await Program.shell("truncate -s -655360 disk/other", in: folder)
                let (nearly, status) = try await Self.examine(folder, options)
                let space = nearly.finding("database_space", "failed")
                #expect(
                    status == 1 && space?.found.contains("(0 %)") == true || space?.found.contains("(1 %)") == true,
                    "\(nearly)")
                #expect(space?.action?.contains("database_full") == true)
                _ = try await Program.shell("head -c 66060288 /dev/zero > disk/rest 2>/dev/null", in: folder)
                let (full, _) = try await Self.examine(folder, options)
                // SQLite needs room to open a file, too.
                let finding = full.finding("database_writes", "failed") ?? full.finding("database", "failed")
                #expect(finding?.found.contains("database_full") == true, "\(full)")
                #expect(finding?.action?.contains("Free space") == true, "\(full)")
            }
        }
    }
}
