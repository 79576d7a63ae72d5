// What the core takes from swift-crypto's extras, declared without an implementation, for dev/check-availability.py.

public import Crypto

public enum _RSA {
    public enum Signing {
        public struct Padding { public static var insecurePKCS1v1_5: Padding { fatalError() } }

        public struct PublicKey: Sendable {
            public init(unsafeDERRepresentation: [UInt8]) throws {}
            public func isValidSignature(
                _ signature: RSASignature, for digest: some Digest, padding: Padding
            ) -> Bool { fatalError() }
        }

        public struct RSASignature { public init(rawRepresentation: UnsafeRawBufferPointer) {} }
    }
}
