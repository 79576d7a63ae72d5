import Foundation
import TestSupport

/// A pgbouncer in transaction mode in front of a database.
struct Pooler {
    let port: Int
    private let process: ChildProcess

    /// Calls the body with a pooler of few connections. If pgbouncer is not installed, prints that and returns.
    static func with(_ place: ThrowawayPostgreSQL.Database, _ body: (Pooler) async throws -> Void) async throws {
        let program = "/usr/sbin/pgbouncer"
        guard FileManager.default.isExecutableFile(atPath: program) else {
            print("SKIPPED behind pgbouncer: it is not installed (Debian: pgbouncer)")
            return
        }
        try await TemporaryFolder.with { folder in
            // A port that was free a moment ago.
            let proxy = try CuttingProxy(to: place.server.port)
            let port = proxy.port
            proxy.close()
            let settings = folder.appending(path: "pgbouncer.ini").path
            try """
            [databases]
            \(place.name) = host=127.0.0.1 port=\(place.server.port) user=assay
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = 3
            max_client_conn = 100
            """.write(toFile: settings, atomically: true, encoding: .utf8)
            let process = ChildProcess()
            process.executable = program
            // pgbouncer refuses to run as root, and reads its settings before it changes its user.
            process.arguments = (getuid() == 0 ? ["-u", "postgres"] : []) + ["-q", settings]
            process.environment = ProcessInfo.processInfo.environment
            try process.run()
            do {
                try await body(Pooler(port: port, process: process))
            } catch {
                process.terminate()
                throw error
            }
            process.terminate()
            process.waitUntilExit()
        }
    }
}
