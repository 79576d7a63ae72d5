/// The check that JSON from outside passes before a decoder reads it: that it is well-formed (RFC 8259), and that it
/// stays within the limits of `VerificationBudget`.
///
/// A decoder hashes the names of members as `String`, which takes quadratic time for text that Unicode has to reorder.
/// So a name is ASCII without escapes, and short. Decoders differ in how they handle two equal members, half a
/// surrogate pair, or a comma before a closing brace. All of these are refused here, so that every decoder reads the
/// same.
public enum StrictJSON {
    /// The reason why JSON is refused.
    public struct Flaw: Error, Sendable {
        /// A description of what was expected where the check failed.
        public let expected: String
    }

    /// Checks JSON in one pass, in time proportional to its size.
    ///
    /// - Parameter json: the bytes, UTF-8. A byte order mark before them is skipped.
    public static func check(_ json: Span<UInt8>) throws(Flaw) { _ = try JSONScanner.nodes(of: json) }

    /// Checks JSON in an array: `Array.span` needs newer systems than the package.
    public static func check(_ json: [UInt8]) throws(Flaw) {
        let slice = json[...]
        try check(slice.span)
    }
}
