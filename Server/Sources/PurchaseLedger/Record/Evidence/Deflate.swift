import CZlib
import Synchronization

/// Raw deflate (RFC 1951) with a preset dictionary. The states of zlib are kept and reused: creating one takes several
/// times as long as compressing a piece of evidence.
enum Deflate {
    /// Deflate compresses at most 1,032 bytes to one: a match of 258 bytes takes at least two bits.
    private static let largestRatio = 1032

    private static let compressors = Pool { Compressor() }
    private static let expanders = Pool { Expander() }

    /// The compressed bytes; `nil` if zlib cannot allocate its state.
    static func compressed(_ bytes: [UInt8], _ dictionary: CompressionDictionary) -> [UInt8]? {
        compressors.with { $0.compressed(bytes, dictionary.bytes) }
    }

    /// The original bytes.
    ///
    /// - Parameter count: the expected number of bytes.
    /// - Returns: `nil` if the content is not exactly one deflate stream of that many bytes.
    static func expanded(_ content: ArraySlice<UInt8>, _ dictionary: CompressionDictionary, count: Int) -> [UInt8]? {
        guard count >= 0, count / largestRatio <= content.count else { return nil }
        return expanders.with { $0.expanded(content, dictionary.bytes, count: count) }
    }
}

/// Unused states; at most as many as were in use at one time: one for each thread that verifies.
private final class Pool<State>: Sendable {
    private let unused = Mutex<[Unshared]>([])
    private let make: @Sendable () -> State?

    /// Unchecked because a state has one user at a time: it is removed from the list while it is used.
    private struct Unshared: @unchecked Sendable {
        let state: State
    }

    init(_ make: @escaping @Sendable () -> State?) { self.make = make }

    func with<Value>(_ body: (State) -> Value?) -> Value? {
        guard let taken = unused.withLock({ $0.popLast() }) ?? make().map(Unshared.init) else { return nil }
        defer { unused.withLock { $0.append(taken) } }
        return body(taken.state)
    }
}

/// A state of zlib must stay at its address, so it is allocated.
private final class Compressor {
    /// Repetitions in evidence lie within a few kilobytes; larger windows and tables only take longer to prepare.
    private static let windowBits: Int32 = 13
    private static let memoryLevel: Int32 = 6
    private static let level: Int32 = 6

    private let stream: UnsafeMutablePointer<z_stream>

    init?() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = deflateInit2_(
            stream, Self.level, Z_DEFLATED, -Self.windowBits, Self.memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        // `deinit` also runs if an initializer fails.
        guard result == Z_OK else { return nil }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func compressed(_ bytes: [UInt8], _ dictionary: [UInt8]) -> [UInt8]? {
        guard bytes.count <= Int(UInt32.max), deflateReset(stream) == Z_OK,
            deflateSetDictionary(stream, dictionary, uInt(dictionary.count)) == Z_OK
        else { return nil }
        let capacity = Int(deflateBound(stream, uLong(bytes.count)))
        guard capacity <= Int(UInt32.max) else { return nil }
        var result = Z_STREAM_ERROR
        let content = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            bytes.withUnsafeBufferPointer { input in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = uInt(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = uInt(capacity)
                result = deflate(stream, Z_FINISH)
            }
            count = capacity - Int(stream.pointee.avail_out)
        }
        return result == Z_STREAM_END ? content : nil
    }
}

private final class Expander {
    /// The largest window, which can read the output of any compressor.
    private static let windowBits: Int32 = 15

    private let stream: UnsafeMutablePointer<z_stream>

    init?() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = inflateInit2_(
            stream, -Self.windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard result == Z_OK else { return nil }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    func expanded(_ content: ArraySlice<UInt8>, _ dictionary: [UInt8], count: Int) -> [UInt8]? {
        guard content.count <= Int(UInt32.max), count < Int(UInt32.max), inflateReset(stream) == Z_OK,
            inflateSetDictionary(stream, dictionary, uInt(dictionary.count)) == Z_OK
        else { return nil }
        var isWhole = false
        // One extra byte, so that a stream that is too long is detected, and there is always an address to write to.
        let bytes = [UInt8](unsafeUninitializedCapacity: count + 1) { output, written in
            content.withUnsafeBufferPointer { input in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = uInt(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = uInt(count + 1)
                let result = inflate(stream, Z_FINISH)
                written = count + 1 - Int(stream.pointee.avail_out)
                isWhole = result == Z_STREAM_END && stream.pointee.avail_in == 0 && written == count
            }
        }
        return isWhole ? bytes : nil
    }
}
