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
