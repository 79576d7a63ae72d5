extension ClaimDetails {
    /// The bytes that `JSONEncoder` writes with sorted keys. Every purchase has such details, and they are written by
    /// the only thread that writes to the database, where the encoder takes longer than all statements of a purchase.
    func canonicalJSON() -> [UInt8] {
        var json = JSONText(capacity: 512)
        json.open()
        json.add("appStore", appStore?.rawValue)
        json.add("customer", customer)
        json.add("evidenceKind", evidenceKind)
        json.add("expected", expected)
        json.add("found", found)
        if let imported {
            json.key("imported")
            json.open()
            json.add("announced", imported.announced)
            json.add("at", imported.at)
            json.add("consumables", imported.consumables)
            if let takes = imported.takes {
                json.key("takes")
                json.list(takes) { json, take in
                    json.open()
                    json.add("environment", take.environment)
                    json.add("grantID", take.grantID)
                    json.add("originalID", take.originalID)
                    json.add("second", take.second)
                    json.add("units", take.units)
                    json.close()
                }
            }
            json.close()
        }
        json.add("isRestore", isRestore)
        json.add("keyID", keyID)
        json.add("order", order)
        json.key("outcomes")
        json.list(outcomes) { json, outcome in
            json.open()
            json.add("binds", outcome.binds)
            json.add("code", outcome.code)
            json.add("environment", outcome.environment)
            json.add("order", outcome.order)
            json.add("second", outcome.second)
            json.add("transactionID", outcome.transactionID)
            json.close()
        }
        json.add("productID", productID)
        json.add("quantity", quantity)
        json.add("replayed", replayed)
        json.add("sourceAddress", sourceAddress)
        json.add("transactionID", transactionID)
        json.add("transfer", transfer)
        if let unknownMembers {
            json.key("unknownMembers")
            json.strings(unknownMembers)
        }
        json.add("unverified", unverified?.rawValue)
        json.close()
        return json.bytes
    }
}
