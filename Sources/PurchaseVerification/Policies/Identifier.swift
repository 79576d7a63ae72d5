extension String {
    /// Whether an identifier is the same, byte by byte, as it is signed and as databases compare it. The operator of the standard
    /// library takes texts for the same that Unicode calls equivalent, such as `K` and the sign for kelvin.
    public func isSame(as other: String?) -> Bool {
        other.map { utf8.elementsEqual($0.utf8) } ?? false
    }
}
