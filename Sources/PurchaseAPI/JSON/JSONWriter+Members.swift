extension JSONWriter {
    /// A text member, omitted if it is nil.
    mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        string(text)
    }

    /// A number as a number; absent is `null`.
    mutating func numberMember(_ name: StaticString, _ value: UInt64?) {
        key(name)
        if let value { number(value) } else { null() }
    }

    /// A number as a string, omitted if it is nil.
    mutating func digitsMember(_ name: StaticString, _ value: UInt64?) {
        guard let value else { return }
        key(name)
        digits(value)
    }

    /// A boolean as a string, omitted if it is nil.
    mutating func flagMember(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        plainString(value ? "true" : "false")
    }

    /// A boolean as the string `1` or `0`, omitted if it is nil.
    mutating func bitMember(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        plainString(value ? "1" : "0")
    }
}
