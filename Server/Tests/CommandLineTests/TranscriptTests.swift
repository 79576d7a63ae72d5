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
