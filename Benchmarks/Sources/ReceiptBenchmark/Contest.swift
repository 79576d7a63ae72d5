import Foundation

/// Runs contenders in turn, in many rounds, and takes the median of each: anything that slows the machine down for a
/// while slows all of them down.
struct Contest {
    let contenders: [Contender]
    /// How long one turn of one contender lasts, in seconds.
    var turn = 0.008
    var rounds = 61

    /// Microseconds of processor time per run, in the order of the contenders.
    func medians() throws -> [Double] {
        var sink = 0
        var counts: [Int] = []
        for contender in contenders {
            counts.append(try repetitions(of: contender, &sink))
        }
        var samples = contenders.map { _ in [Double]() }
        for round in 0..<rounds {
            // Each round starts with another one, so that none always follows the same neighbour.
            for offset in contenders.indices {
                let index = (round + offset) % contenders.count
                // The caches still hold the neighbour's code, which would cost long code more than short code.
                _ = try time(contenders[index], max(1, counts[index] / 4), &sink)
                samples[index].append(try time(contenders[index], counts[index], &sink) / Double(counts[index]) * 1e6)
            }
        }
        guard sink != .min else { throw BenchmarkError("nothing was done") }
        return samples.map(\.median)
    }

    /// How many runs fill a turn.
    private func repetitions(of contender: Contender, _ sink: inout Int) throws -> Int {
        var count = 1
        while true {
            let seconds = try time(contender, count, &sink)
            if seconds >= turn / 4 || count >= 1 << 20 { return max(1, Int(Double(count) * turn / seconds)) }
            count *= 2
        }
    }

    private func time(_ contender: Contender, _ count: Int, _ sink: inout Int) throws -> Double {
        let start = Self.processorTime()
        for _ in 0..<count { sink &+= try contender.run() }
        return Self.processorTime() - start
    }

    /// The processor time of this thread in seconds, which excludes that of others.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        guard let last = sorted.last else { return .nan }
        let middle = sorted.count / 2
        if sorted.count == 1 { return last }
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

/// Runs programs in turn and compares their times from start to end. Their output is discarded.
struct ProcessContest {
    private let commands: [[String]]

    init(_ commands: [[String]]) { self.commands = commands }

    /// Prints the median of each in milliseconds, one per line.
    func report(rounds: Int) throws {
        var samples = commands.map { _ in [Double]() }
        for round in 0..<(rounds + 1) {
            for offset in commands.indices {
                let index = (round + offset) % commands.count
                let milliseconds = try time(commands[index])
                // The first round only brings the files into memory.
                if round > 0 { samples[index].append(milliseconds) }
            }
        }
        for sample in samples { print(sample.median.text(2)) }
    }

    private func time(_ command: [String]) throws -> Double {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        var arguments = command.map { strdup($0) } + [nil]
        var environment = ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { (arguments + environment).forEach { free($0) } }
        let clock = ContinuousClock()
        let start = clock.now
        var process = pid_t()
        guard posix_spawnp(&process, command[0], &actions, nil, &arguments, &environment) == 0 else {
            throw BenchmarkError("\(command[0]) cannot be started")
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw BenchmarkError("\(command[0]) was lost") }
        }
        let time = clock.now - start
        guard status == 0 else { throw BenchmarkError("\(command.joined(separator: " ")): ended with \(status)") }
        return time / .milliseconds(1)
    }
}

/// The receipt of standard input as a stream of requests, one per line.
enum RequestStream {
    static func write(to file: URL, count: Int) throws {
        let receipt = try FileHandle.standardInput.readToEnd() ?? Data()
        let line = Data(#"{"receipt-data":""#.utf8) + receipt.filter { $0 > 0x20 } + Data("\"}\n".utf8)
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        // A few megabytes at a time.
        let linesPerChunk = max(1, (4 << 20) / line.count)
        var left = count
        while left > 0 {
            let lines = min(left, linesPerChunk)
            try handle.write(contentsOf: Data(repeatElement(line, count: lines).joined()))
            left -= lines
        }
        try handle.close()
    }
}
