import Foundation
import TestSupport

/// The program as built beside the tests.
enum Program {
    /// The path of the program.
    static let url: URL = {
        // The test bundle, or the runner, is in the folder of the build products.
        let candidates = [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0])]
            .flatMap {
                [$0, $0.deletingLastPathComponent(), $0.deletingLastPathComponent().deletingLastPathComponent()]
            }
            .map { $0.appending(path: "assay") }
        return candidates.first { url in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && !isFolder.boolValue
        } ?? URL(fileURLWithPath: "/nonexistent/assay")
    }()

    /// The search path of programs: the folder of this one first.
    static var path: String { url.deletingLastPathComponent().path + ":/usr/local/bin:/usr/bin:/bin" }

    struct Result: Sendable {
        let output: String
        let status: Int32
    }

    /// Runs a line of shell in a folder, with the program on the path. Standard error is part of the output.
    static func shell(_ command: String, in folder: URL, environment: [String: String] = [:]) async throws -> Result {
        try await blocking { try run(command, in: folder, environment: environment) }
    }

    private static func run(_ command: String, in folder: URL, environment: [String: String]) throws -> Result {
        let process = ChildProcess()
        process.arguments = ["-c", "exec 2>&1; \(command)"]
        process.folder = folder
        process.environment = environment.merging([
            "PATH": path, "HOME": folder.path,
        ]) { $1 }
        let pipe = Pipe()
        process.output = pipe.fileHandleForWriting
        try process.run()
        // Otherwise the pipe would stay open after the program ends.
        try pipe.fileHandleForWriting.close()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(output: String(decoding: data, as: UTF8.self), status: process.terminationStatus)
    }

    /// Runs the body in a new folder, which is removed afterwards.
    @discardableResult
    static func inTemporaryFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A leftover folder in the temporary folder does no harm.
            try? FileManager.default.removeItem(at: folder)
        }
        return try await body(folder)
    }
}
