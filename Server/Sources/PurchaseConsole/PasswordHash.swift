import Crypto
import CryptoExtras
import Foundation
import NIOPosix
import Synchronization

/// Hashes passwords with scrypt (RFC 7914), one at a time on a thread of its own: each takes 32 MiB.
final class PasswordHash: Sendable {
    /// N = 2^15, r = 8, p = 3: one of the equivalents that OWASP's cheat sheet on password storage names.
    private static let (rounds, blockSize, parallelism) = (32768, 8, 3)

    /// The shortest password, in characters (NIST SP 800-63B, 5.1.1.2 asks for 8), and the longest in bytes.
    static let shortest = 12
    static let longest = 256

    private let thread = BoundedThread()

    /// The hash of a new password, with its salt and parameters.
    func hash(_ password: String) async throws -> String {
        let salt = SymmetricKey(size: .bits128).withUnsafeBytes { Data($0) }
        let key = try await key(of: password, salt)
        return "scrypt$\(salt.base64EncodedString())$\(key.base64EncodedString())"
    }

    /// Whether a password has a hash. Without a hash it takes as long, and the answer is no.
    func matches(_ password: String, _ hash: String?) async throws -> Bool {
        let parts = hash?.split(separator: "$").map(String.init) ?? []
        let salt = parts.count == 3 ? Data(base64Encoded: parts[1]) : nil
        let key = try await key(of: password, salt ?? Data(count: 16))
        guard parts.count == 3, parts[0] == "scrypt", let expected = Data(base64Encoded: parts[2]) else { return false }
        return Self.isEqual(key, expected)
    }

    private func key(of password: String, _ salt: Data) async throws -> Data {
        try await thread.run {
            try KDF.Scrypt.deriveKey(
                from: Data(password.utf8), salt: salt, outputByteCount: 32, rounds: Self.rounds,
                blockSize: Self.blockSize, parallelism: Self.parallelism
            ).withUnsafeBytes { Data($0) }
        }
    }

    /// Compares in a time that does not depend on the content.
    static func isEqual(_ left: Data, _ right: Data) -> Bool {
        left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// A thread for work that takes long, with a few places to wait; more work is refused, so that strangers can fill
/// neither the memory nor the processors.
final class BoundedThread: Sendable {
    /// The pieces of work that may be under way or wait.
    private static let places = 8

    private let thread: NIOThreadPool
    private let count = Atomic(0)

    init() {
        thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
    }

    deinit { thread.shutdownGracefully { _ in } }

    /// Too much work waits.
    struct Busy: Error {}

    /// Runs work on the thread.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let before = count.add(1, ordering: .relaxed).oldValue
        defer { count.subtract(1, ordering: .relaxed) }
        guard before < Self.places else { throw Busy() }
        return try await thread.runIfActive(work)
    }
}
