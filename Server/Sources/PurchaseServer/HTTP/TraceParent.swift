/// The header `traceparent` of a request (W3C Trace Context, 3.2): the trace that it belongs to, and the caller's span.
///
/// Only the form of version 00 goes in and out, so it has 55 characters, all hexadecimal digits and dashes. A header of
/// any other form is ignored, as the standard says. `tracestate` is not read: the standard allows to discard it, and
/// its text would go from any sender to other systems.
struct TraceParent: Sendable, Equatable {
    /// The header, as it is passed on.
    let text: String

    private static let length = 55

    /// Reads the value of a header; `nil` if it is not of this form.
    init?(_ value: String) {
        let bytes = Array(value.utf8.prefix(Self.length + 1))
        guard bytes.count == Self.length else { return nil }
        for (index, byte) in bytes.enumerated() {
            switch index {
            case 2, 35, 52: guard byte == UInt8(ascii: "-") else { return nil }
            default:
                guard (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) else { return nil }
            }
        }
        let zero = UInt8(ascii: "0")
        // Zeros alone are no id (3.2.2.3, 3.2.2.4).
        guard bytes[0] == zero, bytes[1] == zero, bytes[3..<35].contains(where: { $0 != zero }),
            bytes[36..<52].contains(where: { $0 != zero })
        else { return nil }
        text = value
    }

    /// The id of the trace, for the log: 32 hexadecimal digits.
    var traceID: Substring { text.dropFirst(3).prefix(32) }
}
