import Foundation
import TestSupport
import Testing

@Suite("Transcripts")
struct TranscriptTests {
    @Test("There is at least one transcript, and each has steps")
    func present() async throws {
        let transcripts = try Transcript.all()
        #expect(transcripts.count >= 5)
        #expect(transcripts.allSatisfy { !$0.steps.isEmpty })
        #expect(FileManager.default.isExecutableFile(atPath: Program.url.path))
    }

    @Test("The program's output and exit status match the transcript", arguments: try Transcript.all())
    func follow(_ transcript: Transcript) async throws {
        try await Program.inTemporaryFolder { folder in
            for step in transcript.steps {
                let result = try await Program.shell(step.command, in: folder)
                let place = "\(transcript.name):\(step.line): $ \(step.command)"
                #expect(result.status == step.status, "\(place)\n\(result.output)")
                #expect(step.matches(result.output), "\(place)\n\(result.output)")
            }
        }
    }
}

/// A text file that a user could follow: commands, their output, and their exit status.
///
///     $ assay verify receipt.b64
///     verified  receipt.b64
///     ...
///     [1]
///
/// A line `...` matches any lines, `...` within a line any text; `[1]` is an exit status other than 0.
struct Transcript: Sendable, CustomStringConvertible {
    let name: String
    let steps: [Step]

    struct Step: Sendable {
        let command: String
        var expected: [String] = []
        var status: Int32 = 0
        let line: Int
    }

    var description: String { name }

    /// All transcripts, in the order of their names.
    static func all() throws -> [Transcript] {
        let folder = Corpus.projectFolder.appending(path: "Server/Tests/CommandLineTests/Transcripts")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "txt" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map { Transcript(name: $0.lastPathComponent, text: try String(contentsOf: $0, encoding: .utf8)) }
    }

    init(name: String, text: String) {
        self.name = name
        var steps: [Step] = []
        for (number, line) in text.components(separatedBy: "\n").enumerated() {
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2)), line: number + 1))
            } else if line.hasPrefix("#") || steps.isEmpty {
                continue
            } else if let status = Int32(line.dropFirst().dropLast()), line == "[\(status)]" {
                steps[steps.count - 1].status = status
            } else {
                steps[steps.count - 1].expected.append(line)
            }
        }
        for index in steps.indices {
            while steps[index].expected.last?.isEmpty == true { steps[index].expected.removeLast() }
        }
        self.steps = steps
    }
}

extension Transcript.Step {
    /// Whether the lines are those that are expected.
    func matches(_ output: String) -> Bool {
        var lines = output.components(separatedBy: "\n")
        while lines.last?.isEmpty == true { lines.removeLast() }
        return Self.matches(expected[...], lines[...])
    }

    private static func matches(_ expected: ArraySlice<String>, _ lines: ArraySlice<String>) -> Bool {
        guard let first = expected.first else { return lines.isEmpty }
        if first == "..." {
            return (lines.startIndex...lines.endIndex).contains { matches(expected.dropFirst(), lines[$0...]) }
        }
        guard let line = lines.first, matches(line: line, first) else { return false }
        return matches(expected.dropFirst(), lines.dropFirst())
    }

    private static func matches(line: String, _ pattern: String) -> Bool {
        let parts = pattern.components(separatedBy: "...")
        guard parts.count > 1 else { return line == pattern }
        guard line.hasPrefix(parts[0]) else { return false }
        var rest = line.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }
}
