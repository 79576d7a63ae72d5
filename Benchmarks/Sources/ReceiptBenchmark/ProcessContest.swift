import Foundation

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
