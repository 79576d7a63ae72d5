/// The format of transaction ids in the sandbox: sixteen digits, the first of which is 1 or 2. Ids of production have
/// other lengths.
///
/// The environment in a transaction receipt is unsigned, and signed payloads of 2021 do not state it at all. The
/// transaction id is signed, so it decides, even against the unsigned environment (docs/decisions.md, 22).
enum SandboxIdentifier {
    /// 2012-06-01T00:00:00Z. Receipts of the sandbox state their environment since then. Apple answered older ones like
    /// those of production, and nobody can make new ones, because the date is signed.
    private static let firstStatement = AppStoreTime(millisecondsSince1970: 1_338_508_800_000)

    /// The environment of evidence that does not state it, or states it only in an unsigned part.
    static func environment(
        transactionID: String?, unsigned: AppStoreEnvironment?, at moment: AppStoreTime?
    ) -> AppStoreEnvironment {
        let stated = unsigned ?? .production
        guard stated == .production, moment.map({ $0 >= firstStatement }) ?? true else { return stated }
        return transactionID.map(isSandbox) == true ? .sandbox : .production
    }

    private static func isSandbox(_ transactionID: String) -> Bool {
        let digits = transactionID.utf8
        guard digits.count == 16, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return false
        }
        return digits.first == UInt8(ascii: "1") || digits.first == UInt8(ascii: "2")
    }
}
