import NIOCore

/// The body of an attack, in pieces.
struct AttackBody: AsyncSequence, Sendable {
    private let bytes: [UInt8]

    fileprivate static let pieceBytes = 65_536

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<UInt8>

        mutating func next() async -> ByteBuffer? {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(AttackBody.pieceBytes) }
            return ByteBuffer(bytes: rest.prefix(AttackBody.pieceBytes))
        }
    }
}
