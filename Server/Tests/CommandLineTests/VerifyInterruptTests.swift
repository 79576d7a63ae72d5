import Foundation
import Testing

@Suite("assay verify, interrupted")
struct VerifyInterruptTests {
    @Test("Ctrl-C ends it with status 130 and the number of verdicts so far")
    func interrupt() async throws {
        try await Program.inTemporaryFolder { folder in
            // More than one batch, over a pipe that stays open.
            let command = """
                assay mint --kind production --purchase product=coins -o r.b64
                printf '{"receipt-data":"%s"}\\n' "$(cat r.b64)" > request
                mkfifo stream
                assay verify --jobs 1 --trust assay-authority/trust.pem - < stream > verdicts 2> errors & process=$!
                exec 3> stream
                count=0
                while [ $count -lt 200 ]; do cat request >&3; count=$((count + 1)); done
                until grep -q verified verdicts; do sleep 0.05; done
                kill -INT $process
                wait $process
                echo "status $?"
                cat errors
                """
            let result = try await Program.shell(command, in: folder).output
            #expect(result.contains("status 130\n"), "\(result)")
            #expect(result.contains("interrupted; until then "), "\(result)")
            #expect(result.contains(" verified, 0 rejected"), "\(result)")
        }
    }
}
