import Foundation
import HostileBytes
import PurchaseVerification

/// The cost of one verification.
struct CostMeasurement {
    let multiple: Double
    let seconds: Double
    let verdict: String

    /// Verifies the file as evidence and prints the maximum growth of the process in bytes, including the evidence
    /// itself, the seconds, and the verdict.
    static func printOne(path: String) throws {
        let root = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + ".root")))
        let verifier = try Trust(certificates: [root]).freshVerifier
        // A first verification loads libraries and creates lazy values before the measurement.
        for text in [[0x30], Array("{\"a\" = \"b\";}".utf8), HostileSignedEvidence.jws("{\"a\":[1.5,\"b\",null]}")] {
            _ = Verdict(verifier, text)
        }
        let before = try peakBytes()
        let evidence = try bytes(of: path)
        var verdict = ""
        let seconds = processorSeconds { verdict = Verdict(verifier, evidence).code }
        print(try peakBytes() - before, seconds, verdict)
    }

    /// The processor time of this thread in seconds, so that other load does not count.
    static func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }

    /// The file is read at once: a copy would count as the verifier's memory.
    private static func bytes(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "rb") else { throw CocoaError(.fileReadUnknown) }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        let size = ftell(file)
        rewind(file)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = fread(buffer.baseAddress, 1, size, file)
        }
    }

    /// The maximum memory that the process has held at once.
    private static func peakBytes() throws -> Int {
        #if os(Linux)
            // ru_maxrss would include the memory of the parent before it started this process.
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
            return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) * 1024
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss
        #endif
    }
}
