import EvidenceMint
import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// A process that writes to a ledger.
struct WriterProcess {
    let process = ChildProcess()
    private let pipe = Pipe()

    init(_ database: String, _ folder: URL, offset: Int, mode: String? = nil) throws {
        process.executable = try Self.program().path
        process.arguments = [database, folder.path, "\(offset)"] + (mode.map { [$0] } ?? [])
        process.environment = ProcessInfo.processInfo.environment
        process.folder = folder
        process.output = pipe.fileHandleForWriting
        try process.run()
        // Otherwise the pipe would not end with the process.
        try pipe.fileHandleForWriting.close()
    }

    /// Writes the trust anchors and the claims into a folder.
    static func prepare(_ folder: URL, claims: Int) throws {
        for (number, anchor) in try MintedWorld.trustedCertificates().enumerated() {
            try Data(anchor).write(to: folder.appending(path: "anchor\(number)"))
        }
        for number in 0..<claims {
            let id = "\(4_000_000 + number)"
            try Data(try LedgerWorld.signed(id)).write(to: folder.appending(path: id))
        }
    }

    /// The program is in the folder of the test bundle.
    private static func program() throws -> URL {
        let places = [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0])]
        let folders = places.flatMap {
            [$0, $0.deletingLastPathComponent(), $0.deletingLastPathComponent().deletingLastPathComponent()]
        }
        return try #require(
            folders.map { $0.appending(path: "ledger-writer") }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) })
    }

    func firstLine() async throws -> String {
        let handle = pipe.fileHandleForReading
        return try await Self.blocking {
            var bytes: [UInt8] = []
            while let byte = try handle.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { bytes.append(byte) }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// All lines, once the process has ended.
    func lines() async throws -> [String] {
        let (handle, process) = (pipe.fileHandleForReading, process)
        return try await Self.blocking {
            let data = try handle.readToEnd() ?? Data()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// Waits on a separate thread, because there are few threads for tasks.
    private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
        }
    }
}
