// What the libraries take from CryptoKit, declared without an implementation, for dev/availability/compiler.py. All of
// it is older than iOS 15 and macOS 12, except what says otherwise.

public import Foundation

public protocol Digest: Sequence, Sendable where Element == UInt8 {}

extension Digest {
    public func makeIterator() -> IndexingIterator<[UInt8]> { fatalError() }
    public static func == (left: Self, right: some DataProtocol) -> Bool { fatalError() }
}

public protocol HashFunction {
    associatedtype Digest: CryptoKit.Digest
    init()
}

extension HashFunction {
    public mutating func update(data: some DataProtocol) {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public static func hash(data: some DataProtocol) -> Digest { fatalError() }
    public func finalize() -> Digest { fatalError() }
}

public struct HashDigest<Function>: Digest {}
public typealias SHA256Digest = HashDigest<SHA256>
public typealias SHA384Digest = HashDigest<SHA384>
public typealias SHA512Digest = HashDigest<SHA512>

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
    public typealias SHA1Digest = HashDigest<SHA1>
    public struct SHA1: HashFunction {
        public typealias Digest = SHA1Digest
        public init() {}
    }
}

public enum Curve<Name> {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init(x963Representation: some ContiguousBytes) throws {}
            public func isValidSignature(_ signature: ECDSASignature, for digest: some Digest) -> Bool { fatalError() }
        }

        public struct ECDSASignature {
            public init(rawRepresentation: some DataProtocol) throws {}
            public init(derRepresentation: some DataProtocol) throws {}
        }
    }
}

public typealias P256 = Curve<SHA256>
public typealias P384 = Curve<SHA384>

public enum Curve25519 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init(rawRepresentation: some ContiguousBytes) throws {}
            public func isValidSignature(_ signature: some DataProtocol, for data: some DataProtocol) -> Bool { true }
        }
    }
}

public enum SymmetricKeySize: Sendable { case bits256 }

public struct SymmetricKey: Sendable, ContiguousBytes {
    public init(data: some ContiguousBytes) {}
    public init(size: SymmetricKeySize) {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}

public struct HashedAuthenticationCode<Function: HashFunction>: Sequence {
    public func makeIterator() -> IndexingIterator<[UInt8]> { fatalError() }
}

public struct HMAC<Function: HashFunction> {
    public static func authenticationCode(
        for data: some DataProtocol, using key: SymmetricKey
    ) -> HashedAuthenticationCode<Function> { fatalError() }
    public static func isValidAuthenticationCode(
        _ code: some ContiguousBytes, authenticating data: some DataProtocol, using key: SymmetricKey
    ) -> Bool { fatalError() }
}
