import Foundation
import TestSupport
import Testing

/// A server that runs as a process.
struct RunningServer {
    /// Its output when it was ready.
    let line: String
    /// `http://` and the address that it listens on.
    let address: String
    let processIdentifier: pid_t

    /// Runs a server until the body is done, and stops it with SIGTERM.
    ///
    /// - Parameters:
    ///   - command: the server, as a line of shell.
    ///   - folder: the working folder.
    ///   - environment: its variables.
    ///   - body: the work while it runs.
    /// - Returns: its exit status.
    @discardableResult
    static func run(
        _ command: String, in folder: URL, environment: [String: String] = [:],
        _ body: (RunningServer) async throws -> Void
    ) async throws -> Int32 {
        let process = ChildProcess()
        process.arguments = ["-c", "exec \(command)"]
        process.folder = folder
        process.environment = environment.merging(["PATH": Program.path]) { $1 }
        let output = Pipe()
        process.output = output.fileHandleForWriting
        try process.run()
        try output.fileHandleForWriting.close()
        defer { process.terminate() }
        let line = try await blocking {
            var line = ""
            while !line.hasSuffix("\n") {
                let data = output.fileHandleForReading.readData(ofLength: 1)
                guard !data.isEmpty else { break }
                line += String(decoding: data, as: UTF8.self)
            }
            return line
        }
        let address = line.split(whereSeparator: { " ;\n".contains($0) }).first { $0.hasPrefix("http://127.0.0.1:") }
        let ready = RunningServer(
            line: line, address: String(try #require(address, "\(line)")), processIdentifier: process.processIdentifier)
        try await body(ready)
        process.terminate()
        return try await blocking {
            process.waitUntilExit()
            return process.terminationStatus
        }
    }
}
