/// The name of a member, and the members of its value if that is an object or an array of objects.
struct BodyMember: Sendable, ExpressibleByStringLiteral {
    let name: String
    let members: [BodyMember]

    init(_ name: String, _ members: [BodyMember]) {
        self.name = name
        self.members = members
    }

    init(stringLiteral name: String) {
        self.init(name, [])
    }
}
