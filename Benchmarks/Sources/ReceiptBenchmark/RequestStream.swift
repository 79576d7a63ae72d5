import Foundation

/// The receipt of standard input as a stream of requests, one per line.
enum RequestStream {
    static func write(to file: URL, count: Int) throws {
        let receipt = try FileHandle.standardInput.readToEnd() ?? Data()
        let line = Data(#"{"receipt-data":""#.utf8) + receipt.filter { $0 > 0x20 } + Data("\"}\n".utf8)
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        // A few megabytes at a time.
        let linesPerChunk = max(1, (4 << 20) / line.count)
        var left = count
        while left > 0 {
            let lines = min(left, linesPerChunk)
            try handle.write(contentsOf: Data(repeatElement(line, count: lines).joined()))
            left -= lines
        }
        try handle.close()
    }
}
