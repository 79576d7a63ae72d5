import Foundation
import Testing

/// The OpenSSL program: a judge of certificates and signatures who shares no line with the simulator.
enum OpenSSL {
    struct Verdict {
        let status: Int32
        let text: String

        var isGood: Bool { status == 0 }
    }

    /// What a skipped test says.
    static let absence: Comment = "OpenSSL 3 is not installed here, so nobody else judged what the simulator made."

    /// LibreSSL answers to the same name, but not to the same options.
    static let isInstalled = (try? run(["version"]).text.hasPrefix("OpenSSL 3")) ?? false

    #if os(macOS) || os(Linux)
        /// Runs a command and waits for it. The text is what it wrote to both outputs.
        static func run(_ arguments: [String]) throws -> Verdict {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["openssl"] + arguments
            process.standardOutput = output
            process.standardError = output
            process.standardInput = FileHandle.nullDevice
            try process.run()
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return Verdict(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
        }
    #else
        static func run(_ arguments: [String]) throws -> Verdict {
            Verdict(status: 127, text: "There are no other programs on this system.")
        }
    #endif
}

/// A folder that is gone when the test is over.
final class ScratchFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("simulator-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file and returns its path.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = url.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file.path
    }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: url.appendingPathComponent(name)))
    }
}
