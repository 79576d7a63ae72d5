/// A strong entity tag (RFC 9110, 8.8.3).
struct EntityTag {
    let text: String

    init(_ value: String) {
        text = "\"\(value)\""
    }

    func matches(_ header: String?) -> Bool {
        guard let header else { return false }
        return header.utf8.elementsEqual(text.utf8)
    }
}
