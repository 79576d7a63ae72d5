extension String {
    /// Whether two identifiers are the same bytes, which is how they are signed and how databases compare them.
    ///
    /// `==` of `String` also equates texts that Unicode calls equivalent, such as `K` and the sign for kelvin, and
    /// takes quadratic time for hostile text.
    public func isSame(as other: String?) -> Bool {
        other.map { utf8.elementsEqual($0.utf8) } ?? false
    }
}
