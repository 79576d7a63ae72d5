/// The check that JSON from outside passes before a decoder reads it: that it is well-formed (RFC 8259), and that it stays
/// within the limits of `VerificationBudget`.
///
/// A decoder hashes the names of members as `String`, which takes quadratic time for text that Unicode has to reorder. So a name
/// is ASCII without escapes, and short. Decoders differ in how they handle two equal members, half a surrogate pair, or a comma
/// before a closing brace. All of these are refused here, so that every decoder reads the same.
public enum JSONBounds {
    /// Checks JSON in one pass, in time proportional to its size.
    ///
    /// - Parameter json: the bytes, UTF-8 without a byte order mark.
    /// - Returns: a description of what was expected where the check fails; `nil` if it passes.
    public static func excess(of json: Span<UInt8>) -> String? {
        do throws(JSONScanner.Failure) {
            _ = try JSONScanner.nodes(of: json)
            return nil
        } catch {
            return error.expected
        }
    }

    /// Checks JSON in an array: `Array.span` needs newer systems than the package.
    public static func excess(of json: [UInt8]) -> String? {
        let slice = json[...]
        return excess(of: slice.span)
    }
}
