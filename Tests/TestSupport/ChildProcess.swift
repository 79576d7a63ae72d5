public import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A program that runs as a child process of the tests.
///
/// On Linux, Foundation's `Process` learns of an exit through a socket that the child's own children and its siblings
/// inherit; it sometimes missed an exit and waited forever. This type waits for the child itself.
///
/// Unchecked, because each test has its own instance and uses it from one task.
public final class ChildProcess: @unchecked Sendable {
    /// The program, searched for on the path of the environment.
    public var executable = "/bin/sh"
    public var arguments: [String] = []
    public var environment: [String: String] = [:]
    public var folder = URL(fileURLWithPath: "/")
    /// The destination of standard output; `nil` discards it.
    public var output: FileHandle?
    /// Whether standard error goes to the same destination as standard output; otherwise it is discarded.
    public var mergesErrors = false
    public private(set) var processIdentifier: pid_t = 0
    public private(set) var terminationStatus: Int32 = 0
    private var isReaped = false

    public init() {}

    /// The program could not be started.
    public struct SpawnError: Error {
        public let program: String
        public let code: Int32
    }

    /// Starts it.
    public func run() throws {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output.fileDescriptor, 1)
            // Otherwise the child, and others that start now, keep the pipe open for as long as they run.
            _ = fcntl(output.fileDescriptor, F_SETFD, FD_CLOEXEC)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        if mergesErrors {
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        } else {
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        // The shell changes to the folder and replaces itself by the program.
        let shell = "/bin/sh"
        let arguments = Self.strings([shell, "-c", #"cd "$0" && exec "$@""#, folder.path, executable] + arguments)
        let environment = Self.strings(environment.map { "\($0)=\($1)" })
        defer { for text in arguments + environment { free(text) } }
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
        #else
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A server in this process ignores SIGPIPE, and children inherit that; a shell's programs need the signal.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A thread of Dispatch blocks most signals, SIGCHLD among them, without which a shell's `wait` does not end.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let code = posix_spawn(&processIdentifier, shell, &actions, &attributes, arguments, environment)
        guard code == 0 else { throw SpawnError(program: executable, code: code) }
    }

    /// Whether it is still running.
    public var isRunning: Bool {
        reap(WNOHANG)
        return !isReaped
    }

    /// Asks it to end (SIGTERM).
    public func terminate() {
        if isRunning { kill(processIdentifier, SIGTERM) }
    }

    public func waitUntilExit() {
        while !isReaped { reap(0) }
    }

    private func reap(_ options: Int32) {
        guard !isReaped else { return }
        var status: Int32 = 0
        guard waitpid(processIdentifier, &status, options) == processIdentifier else { return }
        isReaped = true
        // The low seven bits are the signal that ended it, the next eight its status (wait(2)).
        terminationStatus = status & 0x7F == 0 ? status >> 8 & 0xFF : status & 0x7F
    }

    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }
}

/// Runs blocking work on a separate thread: a test that waited for a program in its own task would block one of the few
/// threads that all asynchronous tests, and the servers in them, share.
public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
