import HTTPTypes
import Hummingbird
import NIOHTTP1
import Synchronization

/// Reads the bodies of requests, within the limits of one of them and of all together. All readers of a server share
/// one budget.
struct BodyReader: Sendable {
    private let bodyBytes: Int
    private let budget: Budget

    /// The bytes of all bodies.
    private final class Budget: Sendable {
        let bytes: Int
        let held = Atomic(0)

        init(bytes: Int) { self.bytes = bytes }
    }

    /// The bytes that are reserved for a body before it arrives: enough for a receipt of more than 400 purchases. A
    /// longer announced body need not arrive.
    private static let usualBodyBytes = 256 << 10

    init(_ limits: ServerConfiguration.Limits) {
        bodyBytes = limits.bodyBytes
        budget = Budget(bytes: limits.bufferedBytes)
    }

    private init(bodyBytes: Int, budget: Budget) {
        self.bodyBytes = bodyBytes
        self.budget = budget
    }

    /// A reader of bodies of another size, within the same budget.
    func limited(to bytes: Int) -> BodyReader { BodyReader(bodyBytes: bytes, budget: budget) }

    /// Reads the body, and counts it in the budget until the closure returns.
    ///
    /// - Throws: `BodyFault`, the parser's error for malformed HTTP, and the errors of the closure.
    func withBody<Value>(of request: Request, _ use: ([UInt8]) async throws -> Value) async throws -> Value {
        let announced = request.headers.announcedBodyBytes
        // None of it is read.
        guard announced <= bodyBytes else { throw BodyFault.tooLarge(limit: bodyBytes) }
        var taken = 0
        defer { budget.held.subtract(taken, ordering: .relaxed) }
        var body: [UInt8] = []
        body.reserveCapacity(min(announced, Self.usualBodyBytes))
        do {
            for try await part in request.body {
                let count = part.readableBytes
                guard body.count + count <= bodyBytes else { throw BodyFault.tooLarge(limit: bodyBytes) }
                taken += count
                guard budget.held.add(count, ordering: .relaxed).newValue <= budget.bytes else {
                    throw BodyFault.noRoom
                }
                part.readableBytesView.withUnsafeBytes { body.append(contentsOf: $0) }
            }
        } catch let error as BodyFault {
            throw error
        } catch let error as HTTPParserError {
            // Hummingbird answers malformed HTTP with 400 and closes the connection.
            throw error
        } catch {
            throw BodyFault.incomplete
        }
        return try await use(body)
    }
}

/// The reason why a body was not read.
enum BodyFault: Error {
    /// It is larger than the server accepts; a submission that is too large is recorded.
    case tooLarge(limit: Int)
    /// All bodies together exceed the server's limit.
    case noRoom
    /// The connection broke or was cut off; nobody will read the answer.
    case incomplete
    /// It does not match `Content-Digest`.
    case digestMismatch
}
