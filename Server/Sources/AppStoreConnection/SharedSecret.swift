/// The shared secret of an app. Its text is never printed.
public struct SharedSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// The secret, as bytes: strings are compared after Unicode normalisation.
    let utf8: [UInt8]

    /// A secret; `nil` for an empty one, which Apple answers with 21004.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        utf8 = Array(text.utf8)
    }

    public var description: String { "(shared secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
