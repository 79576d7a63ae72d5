import Foundation
import TestSupport

/// A pgbouncer in front of a database.
struct Pooler {
    let port: Int
    private let process: ChildProcess

    /// The setting that drops what a connection sets, instead of refusing the connection.
    static let dropping = "ignore_startup_parameters = options"

    /// Calls the body with a pooler, in transaction mode one of few connections. If pgbouncer is not installed, prints
    /// that and returns.
    static func with(
        _ place: ThrowawayPostgreSQL.Database, _ mode: String, _ more: String = "",
        _ body: (Pooler) async throws -> Void
    ) async throws {
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
            pool_mode = \(mode)
            default_pool_size = \(mode == "transaction" ? 3 : 40)
            max_client_conn = 100
            \(more)
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
