/// The signature of an answer of the server (RFC 9421), which an app asks for with `Accept-Signature`.
///
/// It covers the status, so that an error cannot be turned into a success or back; the type and the digest of the
/// content; and the method, the path and the digest of the request, so that nobody can swap the purchase or the
/// question under a good nonce. It does not cover the host, which a studio's relay may change. The random nonce proves
/// that the answer is new, so the clock of the device does not matter.
///
/// Server and apps share this part; each has its own keys and cryptography.
public struct AnswerSignature: Sendable, Equatable {
    /// The names of the fields.
    public static let acceptField = "Accept-Signature"
    public static let inputField = "Signature-Input"
    public static let signatureField = "Signature"
    /// The purpose of a signature (RFC 9421, 2.3): no other data signed with the same key has this tag.
    public static let tag = "assay-answer"
    /// RFC 9421, 3.3.6.
    public static let algorithm = "ed25519"
    /// The size of a nonce before it is written in base64.
    public static let nonceBytes = 32
    /// The longest nonce that is signed, in characters: twice the length of ours.
    public static let longestNonce = 88

    /// The label of the signature in both fields, as the request chose it.
    public var label: String
    /// When it was signed, in seconds since 1970.
    public var created: Int64
    public var keyID: String
    /// The nonce of the request.
    public var nonce: String

    /// The parameters of a signature.
    public init(label: String, created: Int64, keyID: String, nonce: String) {
        (self.label, self.created, self.keyID, self.nonce) = (label, created, keyID, nonce)
    }

    /// The values of the covered components.
    public struct Message: Sendable, Equatable {
        public var status: Int
        public var contentType: String
        public var contentDigest: String
        public var method: String
        public var path: String
        public var requestDigest: String

        /// The message by its parts; the path is without the query, and the digests are the values of `Content-Digest`.
        public init(
            status: Int, contentType: String, contentDigest: String, method: String, path: String, requestDigest: String
        ) {
            (self.status, self.contentType, self.contentDigest) = (status, contentType, contentDigest)
            (self.method, self.path, self.requestDigest) = (method, path, requestDigest)
        }
    }

    /// The bytes that are signed (RFC 9421, 2.5).
    public func base(of message: Message) -> [UInt8] {
        let values = [
            "\(message.status)", message.contentType, message.contentDigest, message.method, message.path,
            message.requestDigest,
        ]
        var lines = zip(Self.components, values).map { "\(StructuredMember.item($0).text): \($1)" }
        lines.append("\"@signature-params\": \(parameters.text)")
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// The value of `Signature-Input`.
    public var input: String { StructuredDictionary(label, parameters).text }

    /// The value of `Signature`.
    public func field(signature: [UInt8]) -> String {
        StructuredDictionary(label, .item(StructuredItem(.bytes(signature)))).text
    }

    /// The covered components, in this order.
    private static let components: [StructuredItem] = [
        StructuredItem(.string("@status")), StructuredItem(.string("content-type")),
        StructuredItem(.string("content-digest")), StructuredItem(.string("@method"), parameters: [request]),
        StructuredItem(.string("@path"), parameters: [request]),
        StructuredItem(.string("content-digest"), parameters: [request]),
    ]
    private static let request = StructuredParameter("req")

    private var parameters: StructuredMember {
        .list(
            Self.components,
            parameters: [
                StructuredParameter("created", .integer(created)), StructuredParameter("keyid", .string(keyID)),
                StructuredParameter("alg", .string(Self.algorithm)), StructuredParameter("nonce", .string(nonce)),
                StructuredParameter("tag", .string(Self.tag)),
            ])
    }
}

extension AnswerSignature {
    /// The signature that a request asks for.
    public struct Wanted: Sendable, Equatable {
        /// The label of the signature.
        public var label: String
        public var nonce: String

        /// A wanted signature under a label.
        public init(label: String = "assay", nonce: String) { (self.label, self.nonce) = (label, nonce) }

        /// Reads `Accept-Signature` (RFC 9421, 5.1).
        ///
        /// - Returns: `nil` if no member asks for this signature, with its tag, its components and a nonce.
        public init?(acceptSignature text: String) {
            for member in StructuredDictionary(text)?.members ?? [] {
                guard case .list(let items, let parameters) = member.value,
                    parameters.value("tag") == .string(AnswerSignature.tag), items == AnswerSignature.components,
                    parameters.value("alg").map({ $0 == .string(AnswerSignature.algorithm) }) ?? true,
                    let nonce = parameters.value("nonce")?.string, !nonce.isEmpty,
                    nonce.utf8.count <= AnswerSignature.longestNonce
                else { continue }
                (label, self.nonce) = (member.name, nonce)
                return
            }
            return nil
        }

        /// The value of `Accept-Signature`.
        public var text: String {
            StructuredDictionary(
                label,
                .list(
                    AnswerSignature.components,
                    parameters: [
                        StructuredParameter("created"),
                        StructuredParameter("alg", .string(AnswerSignature.algorithm)),
                        StructuredParameter("nonce", .string(nonce)),
                        StructuredParameter("tag", .string(AnswerSignature.tag)),
                    ])
            ).text
        }
    }

    /// Reads the signature of an answer under a label: the components and parameters of this type, in this order, and
    /// no others.
    ///
    /// - Returns: `nil` if the answer has no such signature, or it is malformed.
    public static func read(
        label: String, input: String, signature: String
    ) -> (parameters: AnswerSignature, signature: [UInt8])? {
        guard case .list(let items, let parameters)? = StructuredDictionary(input)?[label], items == components,
            case .item(let item)? = StructuredDictionary(signature)?[label], let bytes = item.value.bytes,
            let created = parameters.value("created")?.integer, let keyID = parameters.value("keyid")?.string,
            let nonce = parameters.value("nonce")?.string
        else { return nil }
        let found = AnswerSignature(label: label, created: created, keyID: keyID, nonce: nonce)
        // Serialised again, it must be identical; otherwise the signed text would differ.
        guard found.parameters == .list(items, parameters: parameters) else { return nil }
        return (found, bytes)
    }
}

/// `Content-Digest` (RFC 9530) with SHA-256: the digest of a message's content as it is sent, after any content coding.
public enum ContentDigest {
    /// The name of the field.
    public static let field = "Content-Digest"

    /// The value of the field for a digest.
    public static func text(sha256: [UInt8]) -> String {
        StructuredDictionary("sha-256", .item(StructuredItem(.bytes(sha256)))).text
    }

    /// The SHA-256 digest of a field; `nil` if it has none, or is malformed.
    public static func sha256(_ text: String) -> [UInt8]? {
        guard case .item(let item)? = StructuredDictionary(text)?["sha-256"], let digest = item.value.bytes,
            digest.count == 32
        else { return nil }
        return digest
    }
}
