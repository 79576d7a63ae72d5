import EvidenceMint
import Foundation

/// The output file that a user named.
enum OutputFile {
    /// Writes to a file atomically. A device or a pipe is written to and not replaced; for a link, its target is.
    static func write(_ data: Data, to path: String) throws {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        // A name that exists only in the system's folders, such as /dev/stdout, does not show its type.
        let isThere = FileManager.default.fileExists(atPath: path)
        let isReachable = FileManager.default.fileExists(atPath: target.path)
        let kind =
            isReachable
            ? try FileManager.default.attributesOfItem(atPath: target.path)[.type] as? FileAttributeType : nil
        guard isThere, kind != .typeRegular else { return try data.write(to: target, options: .atomic) }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.write(contentsOf: data)
        try file.close()
    }
}
