// What the core takes from swift-crypto, declared without an implementation, for dev/check-availability.py.

public protocol Digest: Sequence, Sendable where Element == UInt8 {}

extension Digest {
    public func makeIterator() -> IndexingIterator<[UInt8]> { fatalError() }
    public static func == (left: Self, right: [UInt8]) -> Bool { fatalError() }
}

public protocol HashFunction {
    associatedtype Digest: Crypto.Digest
    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

extension HashFunction {
    public mutating func update(data: [UInt8]) {}
    public static func hash(data: [UInt8]) -> Digest { fatalError() }
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> Digest { fatalError() }
}

public struct SHA256Digest: Digest {}
public struct SHA384Digest: Digest {}
public struct SHA512Digest: Digest {}

public struct SHA256: HashFunction {
    public typealias Digest = SHA256Digest
    public init() {}
}

public struct SHA384: HashFunction {
    public typealias Digest = SHA384Digest
    public init() {}
}

public struct SHA512: HashFunction {
    public typealias Digest = SHA512Digest
    public init() {}
}

public enum Insecure {
    public struct SHA1Digest: Digest {}

    public struct SHA1: HashFunction {
        public typealias Digest = SHA1Digest
        public init() {}
    }
}

public enum P256 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init(x963Representation: [UInt8]) throws {}
            public func isValidSignature(_ signature: ECDSASignature, for digest: some Digest) -> Bool { fatalError() }
        }

        public struct ECDSASignature {
            public init(rawRepresentation: [UInt8]) throws {}
            public init(derRepresentation: [UInt8]) throws {}
        }
    }
}

public enum P384 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init(x963Representation: [UInt8]) throws {}
            public func isValidSignature(_ signature: ECDSASignature, for digest: some Digest) -> Bool { fatalError() }
        }

        public struct ECDSASignature {
            public init(rawRepresentation: [UInt8]) throws {}
            public init(derRepresentation: [UInt8]) throws {}
        }
    }
}
