/// Both ways to decode, for the tests that compare them with Foundation's. Where a processor has no such vectors, both
/// are the same.
package enum Base64DecoderWays {
    package static func vectors(_ text: [UInt8]) -> [UInt8]? { Base64Decoder.decode(text) }
    package static func table(_ text: [UInt8]) -> [UInt8]? { Base64Decoder.decode(text, by: .table) }
}
