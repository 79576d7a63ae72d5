public import PurchaseMessages

extension ProblemDocument {
    /// The document in JSON, in the order of its members here.
    public func json() -> [UInt8] {
        var json = JSONWriter(capacity: 256)
        json.object { json in
            json.member(CodingKeys.type, type)
            json.member(CodingKeys.title, title)
            json.key(CodingKeys.status.rawValue)
            json.number(status)
            json.member(CodingKeys.code, code)
            json.member(CodingKeys.detail, detail)
            json.member(CodingKeys.expected, expected)
            json.member(CodingKeys.found, found)
            json.member(CodingKeys.disposition, disposition?.rawValue)
            json.member(CodingKeys.claimedBy, claimedBy?.rawValue)
            json.member(CodingKeys.verdict, verdict?.rawValue)
            if let replayed {
                json.key(CodingKeys.replayed.rawValue)
                json.boolean(replayed)
            }
            json.member(CodingKeys.submissionID, submissionID)
            json.member(CodingKeys.leafHash, leafHash)
            json.member(CodingKeys.mergedInto, mergedInto)
            if let warnings {
                json.key(CodingKeys.warnings.rawValue)
                json.array(warnings) { json, warning in
                    json.object { json in
                        json.member("code", warning.code)
                        json.member("detail", warning.detail)
                        json.member("found", warning.found)
                    }
                }
            }
        }
        return json.bytes
    }
}

extension JSONWriter {
    /// A text member under its coding key, omitted if it is nil.
    fileprivate mutating func member(_ key: ProblemDocument.CodingKeys, _ text: String?) {
        guard let text else { return }
        self.key(key.rawValue)
        string(text)
    }
}
