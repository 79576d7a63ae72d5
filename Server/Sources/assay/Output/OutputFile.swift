import EvidenceMint
import Foundation

/// A file that a user named for what is made.
enum OutputFile {
    /// Writes to a file, all of it or nothing. A device or a pipe is written to and not replaced, and of a link what it leads to.
    static func write(_ data: Data, to path: String) throws {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        // What has a name in the system's folders alone, such as /dev/stdout, cannot be asked what it is by that name.
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
