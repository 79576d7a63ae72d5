import Foundation
import HostileBytes
import PurchaseVerification

/// The permitted cost of evidence: peak memory as a multiple of its size, and time, for the worst known evidence.
enum Cost {
    /// Beyond these the run fails: a small multiple in memory, and a time that is clearly not a hang.
    private static let memoryLimit = 8.0
    /// Foundation's reader of JSON keeps about 40 bytes for each value, and the shortest value has two. Signed data has
    /// at most 384 KiB, which limits the total.
    private static let jsonMemoryLimit = 24.0
    /// The permitted growth of a process regardless of the evidence: pages, and objects that libraries create at their
    /// first use.
    private static let memoryAllowance = 1 << 20
    private static let secondsLimit = 1.0

    static func run(_ minted: MintedSamples, _ store: EvidenceSamples) throws -> Bool {
        print("\n## Cost\n")
        print("| evidence | bytes | peak memory, multiple of its size | ms | verdict |\n|---|---:|---:|---:|---|")
        let root = minted.trust.certificates.flatMap { $0 }
        var holds = true
        for (name, evidence) in try HostileEvidence.all(minted) + HostileSignedEvidence.all(store) {
            let row = try measure(evidence, root: root)
            let limit = evidence.first == UInt8(ascii: "e") ? jsonMemoryLimit : memoryLimit
            let isWithin =
                (row.multiple <= limit || row.multiple * Double(evidence.count) <= Double(memoryAllowance))
                && row.seconds <= secondsLimit
            holds = holds && isWithin
            let remark = isWithin ? "" : ", VIOLATED: beyond \(limit) times or \(secondsLimit) s"
            print(
                "| \(name) | \(evidence.count) | \(format(row.multiple)) | \(format(row.seconds * 1000)) "
                    + "| \(row.verdict)\(remark) |")
        }
        let isLinear = try growth(minted)
        return try HostileSignedEvidence.growth(store) && isLinear && holds
    }

    /// Runs in a separate process, so that nothing else has raised the peak. A process that hangs is killed.
    private static func measure(_ evidence: [UInt8], root: [UInt8]) throws -> CostMeasurement {
        let file = FileManager.default.temporaryDirectory.appending(path: "assay-torture-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(root).write(to: file.appendingPathExtension("root"))
        defer { try? FileManager.default.removeItem(at: file.appendingPathExtension("root")) }
        try Data(evidence).write(to: file)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--measure", file.path]
        process.standardOutput = output
        try process.run()
        let deadline = ContinuousClock.now + .seconds(20)
        while process.isRunning, ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.01) }
        if process.isRunning {
            process.terminate()
            process.waitUntilExit()
            return CostMeasurement(multiple: 0, seconds: 20, verdict: "ended after 20 s")
        }
        let fields = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            .split(separator: " ")
        guard process.terminationStatus == 0, fields.count == 3, let peak = Double(fields[0]),
            let seconds = Double(fields[1])
        else { return CostMeasurement(multiple: .infinity, seconds: .infinity, verdict: "crashed") }
        return CostMeasurement(
            multiple: peak / Double(evidence.count), seconds: seconds,
            verdict: fields[2].trimmingCharacters(in: .newlines))
    }

    /// Ten times the purchases, ten times the time.
    private static func growth(_ minted: MintedSamples) throws -> Bool {
        print("\n| purchases | bytes | µs | µs for each purchase beyond the first |\n|---:|---:|---:|---:|")
        var first = 0.0
        var perPurchase: [Double] = []
        for count in [1, 10, 100, 1000, 10_000] {
            let evidence = try minted.mint(MintedSamples.template(purchases: count))
            let verifier = minted.trust.freshVerifier
            _ = try verifier.verifyAppReceipt(evidence, policies: [])
            let clock = ContinuousClock()
            let best =
                try (0..<15).map { _ in
                    try clock.measure { _ = try verifier.verifyAppReceipt(evidence, policies: []) } / .microseconds(1)
                }.min() ?? 0
            if count == 1 { first = best }
            let each = count > 1 ? (best - first) / Double(count - 1) : 0
            if count >= 100 { perPurchase.append(each) }
            print("| \(count) | \(evidence.count) | \(format(best)) | \(count > 1 ? format(each, digits: 3) : "") |")
        }
        let isLinear = (perPurchase.last ?? .infinity) <= 2 * (perPurchase.first ?? 0)
        if !isLinear { print("VIOLATED: the time does not grow linearly") }
        return isLinear
    }

    private static func format(_ number: Double, digits: Int = 1) -> String {
        String(format: "%.\(digits)f", number)
    }
}

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
