/// The limits on the cost of hostile bytes. Each limit has its reason beside it.
enum VerificationBudget {
    /// The largest evidence as it arrives, in bytes. The largest real receipt known has 200 purchases and 108 kB of
    /// base64; 10,000 purchases take about 5.5 MB.
    static let evidenceBytes = 16 << 20

    /// Bytes of the evidence in one fact of an error. No identifier or serial number of a real receipt is longer.
    static let shownBytes = 64

    /// Nesting depth of constructed BER. A receipt with its certificates needs 11 levels.
    static let berDepth = 24

    /// Certificates in one container. Apple embeds three.
    static let certificates = 10

    /// The largest certificate in bytes. Apple's have up to 1.6 kB; names and extensions of a certificate are read more
    /// than once.
    static let certificateBytes = 1 << 14

    /// Extensions of one certificate. Apple's have up to nine; each is compared with all before it.
    static let extensions = 64

    /// Certificates between the leaf and the anchor. Apple has one; two more leave room for a private authority.
    static let intermediates = 3

    /// The weight of all signature checks of one search for a path, in checks with RSA-2048
    /// (`PublicKey.signatureCheckWeight`): about two milliseconds. Apple's chain of signed data, two checks with P-384,
    /// weighs 32; the rest leaves room for two private authorities in addition, and for roots that share a name. A
    /// receipt with every place for a certificate taken by an impostor of its issuer weighs some twenty.
    static let pathSignatureWeight = 80

    /// Entries of the memory of verified paths, all kinds of evidence together. Apple has signed receipts with a dozen
    /// leaves since 2010 and transaction receipts with about as many; signed payloads, with three, take two entries
    /// each.
    static let rememberedPaths = 64

    /// Attributes of the receipt itself without purchases, and of one purchase. Apple writes fewer than 30 of each.
    static let attributes = 256

    /// Purchases in one receipt. The largest real receipt known has 200.
    static let purchases = 20_000

    /// Keys of one property list. A transaction receipt has at most 5 in the outer list and 25 in the signed one.
    static let propertyListEntries = 64

    /// The longest key of a property list in bytes. Apple's longest, `version-external-identifier`, has 27.
    static let propertyListKeyBytes = 64

    /// The largest signed data (JWS) in bytes: 384 KiB. A notification with both of its parts takes some 12 kB, and 200
    /// kB of future fields in one of these parts 356 kB, since base64 adds a third twice. Reading the JSON of hostile
    /// claims takes up to twenty times their size, before any signature is checked.
    static let signedPayloadBytes = 3 << 17

    /// Nesting depth of the JSON of signed data. Apple's has four levels.
    static let jsonDepth = 16

    /// Values in one JSON document, including objects and arrays. Apple's claims have about fifty; the Advanced
    /// Commerce API adds a dozen per item.
    static let jsonValues = 4096

    /// Members of one JSON object. Apple's largest has 40; each name is compared with those before it.
    static let jsonMembers = 128

    /// The longest name of a JSON member in bytes. Apple's longest, `recentSubscriptionStartDate`, has 27.
    static let jsonNameBytes = 64

    /// The longest number in JSON in bytes. The longest that Apple writes is a date with a fraction, of 18.
    static let jsonNumberBytes = 64

    /// The longest value of an open set in bytes. Apple's longest, `Auto-Renewable Subscription`, has 27.
    static let openValueBytes = 64

    /// The minimum of a date in claims, in milliseconds since 1970. Xcode writes this value, Foundation's
    /// `distantPast`, for an absent date.
    static let earliestMilliseconds: Int64 = -62_135_769_600_000

    /// Milliseconds since 1970 that no date reaches: the end of the year 9999.
    static let latestMilliseconds: Int64 = 253_402_300_800_000

    /// Bytes of the modulus of an RSA key: 2,048 to 4,096 bit. Shorter is not safe, longer only slow.
    static let rsaModulusBytes = 256...512
}
