/// One element of DER: its tag and the position of its content. It owns no bytes.
struct DERElement {
    /// The identifier octet (X.690, 8.1.2): class, constructed bit and number. Receipts use no numbers above 30.
    let tag: UInt8
    /// The offset of the identifier octet.
    let start: Int
    /// The offsets of the content octets.
    let content: Range<Int>

    /// The element with its header.
    var whole: Range<Int> { start..<content.upperBound }
}
