import Foundation

/// What the system says about this process.
enum ProcessReadings {
    static var samples: [MetricSample] {
        var samples = [
            MetricSample(.startTime, startedAt), MetricSample(.processorTime, processorSeconds),
        ]
        if let memory = residentBytes { samples.append(MetricSample(.residentMemory, memory)) }
        if let files = openFiles { samples.append(MetricSample(.openFiles, files)) }
        return samples
    }

    /// The time of the first reading, which the start of a server makes.
    private static let startedAt = Date().timeIntervalSince1970.rounded()

    /// Notes the start of the process.
    static func begin() { _ = startedAt }

    private static var processorSeconds: Double {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// `nil` where there is no /proc.
    private static var residentBytes: Double? {
        // The second field of statm is in pages (proc(5)).
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static var openFiles: Double? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count) }
    }
}
