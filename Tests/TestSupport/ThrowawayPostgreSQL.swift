import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A PostgreSQL server of this test run. The first test that needs it starts it, and it is stopped and deleted when the
/// run ends.
public actor ThrowawayPostgreSQL {
    public static let shared = ThrowawayPostgreSQL()

    /// More databases at once would need more connections than the server has.
    private static let databases = 12

    private var starting: Task<Server?, any Error>?
    private var number = 0
    /// The databases that others are copied from, by name.
    private var templates: [String: Task<Void, any Error>] = [:]
    private var open = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// The location of the server.
    public struct Server: Sendable {
        /// The folder with its socket, its data and its log.
        public var folder: String
        /// The port on 127.0.0.1.
        public var port: Int
        /// The folder of its programs.
        public var programs: String
        /// Whether `createdb` can copy the files of the template, which costs a third of writing them to the WAL.
        var copiesFiles = false

        /// Creates a database like another one, an empty one by default.
        public func create(_ name: String, like template: String = "template0") async throws -> Database {
            let strategy = copiesFiles ? ["--strategy", "file_copy"] : []
            let (status, output) = try await ThrowawayPostgreSQL.run(
                "\(programs)/createdb",
                ["-h", folder, "-p", "\(port)", "-U", "assay", "--template", template] + strategy + [name])
            guard status == 0 else { throw Failure(description: "createdb: \(output)") }
            return Database(name: name, server: self)
        }

        /// Deletes a database in memory. On a disk it can stay until the end of the run: deleting hundreds of files
        /// costs more than their space.
        func drop(_ database: Database) async throws {
            guard folder.hasPrefix("/dev/shm/") else { return }
            // A database that cannot be deleted only takes space.
            _ = try await ThrowawayPostgreSQL.run(
                "\(programs)/dropdb",
                ["-h", folder, "-p", "\(port)", "-U", "assay", "--if-exists", "--force", database.name])
        }

        /// Stops or starts it (`pg_ctl`).
        public func control(_ arguments: String...) async throws {
            let (status, output) = try await ThrowawayPostgreSQL.run("\(folder)/control", arguments)
            guard status == 0 else { throw Failure(description: "pg_ctl: \(output)") }
        }

        /// The number of its first process.
        public var process: Int32? {
            get throws {
                try String(contentsOfFile: "\(folder)/data/postmaster.pid", encoding: .utf8)
                    .split(separator: "\n").first.flatMap { Int32($0) }
            }
        }
    }

    /// A separate database for one test.
    public struct Database: Sendable {
        public var name: String
        public var server: Server

        /// Its URL, through the socket or, for a proxy in between, a port of 127.0.0.1.
        public func url(port: Int? = nil) -> String {
            guard let port else {
                return "postgres:///\(name)?host=\(server.folder)&port=\(server.port)&user=assay"
            }
            return "postgres://assay@127.0.0.1:\(port)/\(name)?sslmode=disable&gssencmode=disable"
        }
    }

    /// A database that is prepared once, and copied for each test that wants it.
    public struct Template: Sendable {
        let name: String
        let prepare: @Sendable (Database) async throws -> Void

        /// - Parameter prepare: fills an empty database, and closes its connections.
        public init(_ name: String, prepare: @escaping @Sendable (Database) async throws -> Void) {
            (self.name, self.prepare) = (name, prepare)
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Calls the body with a database like the template, or an empty one. If PostgreSQL is not installed, prints that
    /// and returns, except in CI.
    ///
    /// - Returns: whether PostgreSQL is installed.
    @discardableResult
    public static func withDatabase(
        like template: Template? = nil, _ body: (Database) async throws -> Void
    ) async throws -> Bool {
        guard let database = try await shared.make(like: template) else {
            guard ProcessInfo.processInfo.environment["CI"] == nil else {
                throw Failure(description: "PostgreSQL is not installed; make setup installs it")
            }
            return false
        }
        do {
            try await body(database)
        } catch {
            try await database.server.drop(database)
            await shared.leave()
            throw error
        }
        try await database.server.drop(database)
        await shared.leave()
        return true
    }

    /// Calls the body with a separate server, which the test may stop.
    ///
    /// - Parameter settings: lines of `postgresql.conf`.
    public static func withServer(_ settings: [String] = [], _ body: (Server) async throws -> Void) async throws {
        guard let server = try await start(settings) else {
            guard ProcessInfo.processInfo.environment["CI"] == nil else {
                throw Failure(description: "PostgreSQL is not installed; make setup installs it")
            }
            return
        }
        try await body(server)
        try await server.control("stop", "-m", "immediate")
    }

    private func make(like template: Template?) async throws -> Database? {
        if starting == nil {
            starting = Task {
                let server = try await Self.start([])
                if server == nil {
                    print(
                        "SKIPPED on PostgreSQL: it is not installed (Debian: postgresql, macOS: brew install postgresql)"
                    )
                }
                return server
            }
        }
        guard let server = try await starting?.value else { return nil }
        if open >= Self.databases { await withCheckedContinuation { waiting.append($0) } } else { open += 1 }
        number += 1
        let name = "test\(number)"
        guard let template else { return try await server.create(name) }
        try await prepare(template, server)
        return try await server.create(name, like: template.name)
    }

    private func prepare(_ template: Template, _ server: Server) async throws {
        if let preparing = templates[template.name] { return try await preparing.value }
        let preparing = Task { try await template.prepare(try await server.create(template.name)) }
        templates[template.name] = preparing
        try await preparing.value
    }

    private func leave() {
        if waiting.isEmpty { open -= 1 } else { waiting.removeFirst().resume() }
    }

    private static func start(_ settings: [String]) async throws -> Server? {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("dev/throwaway-postgres.sh")
        let (status, output) = try await run(script.path, ["\(getpid())"] + settings)
        guard status != 3 else { return nil }
        let lines = output.split(separator: "\n").map(String.init)
        guard status == 0, lines.count == 3, let port = Int(lines[1]) else {
            throw Failure(description: "\(script.path) ended with \(status): \(output)")
        }
        let help = try await run("\(lines[2])/createdb", ["--help"])
        return Server(
            folder: lines[0], port: port, programs: lines[2], copiesFiles: help.output.contains("--strategy"))
    }

    /// Runs a program to its end.
    public static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await withCheckedThrowingContinuation { continuation in
            // A separate thread may wait; a thread of tasks may not.
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let file = FileManager.default.temporaryDirectory.appendingPathComponent(
                            "run-\(UUID().uuidString)")
                        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
                        defer {
                            // A leftover file in the temporary folder does no harm.
                            try? FileManager.default.removeItem(at: file)
                        }
                        let process = ChildProcess()
                        process.executable = program
                        process.arguments = arguments
                        process.environment = ProcessInfo.processInfo.environment
                        process.mergesErrors = true
                        let handle = try FileHandle(forWritingTo: file)
                        process.output = handle
                        try process.run()
                        process.waitUntilExit()
                        try handle.close()
                        return (process.terminationStatus, try String(contentsOf: file, encoding: .utf8))
                    })
            }
        }
    }
}
