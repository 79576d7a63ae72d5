/// The layout of JSON that was read into a typed value, so that the value can be written back in the same form: the
/// order of the members, the white space, the escapes, and the members that the type does not have.
///
/// The type writes the values themselves. So a value that was misread is not written back unchanged.
struct JSONLayout: Sendable, Equatable {
    private let source: WrittenJSON
    /// The values that the type does not have, or would write with another value. They are kept unchanged.
    private let unread: Set<Int>
    /// The members that the type writes and an object did not have, with their values: `null` and the like.
    private let added: [Int: [AddedMember]]
    /// The paths of the unread values, such as `receipt.in_app[0].name`; of no more than `namedPaths`.
    let unreadPaths: [String]

    private static let namedPaths = 100

    private struct AddedMember: Sendable, Equatable {
        let name: [UInt8]
        let value: [UInt8]
    }

    /// - Parameters:
    ///   - source: the JSON that was read.
    ///   - written: the JSON that the type writes for it.
    init(of source: WrittenJSON, written: WrittenJSON) {
        var comparison = Comparison(source: source, written: written)
        comparison.compare(0, 0, path: "")
        self.source = source
        unread = comparison.unread
        added = comparison.added
        unreadPaths = comparison.paths
    }

    /// The JSON that the type writes now, in this layout.
    func arranged(_ written: WrittenJSON) -> [UInt8] {
        var arranger = Arranger(layout: self, written: written)
        arranger.result.reserveCapacity(source.bytes.count)
        let root = source.nodes[0].range
        arranger.result += source.bytes[..<root.lowerBound]
        arranger.arrange(0, 0)
        arranger.result += source.bytes[root.upperBound...]
        return arranger.result
    }

    /// Whether two values are the same, whether or not they are written as strings: old replies write numbers where
    /// newer ones write strings.
    private static func isSame(_ source: WrittenJSON, _ node: Int, _ written: WrittenJSON, _ other: Int) -> Bool {
        source.text(of: node) == written.text(of: other)
    }

    /// Finds the members that the type does not have.
    private struct Comparison {
        let source: WrittenJSON
        let written: WrittenJSON
        var unread: Set<Int> = []
        var added: [Int: [AddedMember]] = [:]
        var paths: [String] = []

        mutating func compare(_ node: Int, _ other: Int?, path: String) {
            guard let other else { return keep(node, path) }
            switch (source.nodes[node].kind, written.nodes[other].kind) {
            case (.object, .object): compareMembers(node, other, path)
            case (.array, .array): compareElements(node, other, path)
            case (.object, _), (.array, _), (_, .object), (_, .array): keep(node, path)
            default: if !isSame(source, node, written, other) { keep(node, path) }
            }
        }

        private mutating func compareMembers(_ node: Int, _ other: Int, _ path: String) {
            var left = Members(written, other)
            for member in source.members(of: node) {
                let name = source.text(of: member.name)
                compare(member.value, left.take(name), path: joined(path, name))
            }
            let rest = left.rest.map {
                AddedMember(name: $0.name, value: Array(written.bytes[written.nodes[$0.value].range]))
            }
            if !rest.isEmpty { added[node] = rest }
        }

        private mutating func compareElements(_ node: Int, _ other: Int, _ path: String) {
            let (elements, others) = (source.elements(of: node), written.elements(of: other))
            guard elements.count == others.count else { return keep(node, path) }
            for (index, pair) in zip(elements, others).enumerated() {
                compare(pair.0, pair.1, path: paths.count < namedPaths ? "\(path)[\(index)]" : "")
            }
        }

        private mutating func keep(_ node: Int, _ path: String) {
            unread.insert(node)
            if paths.count < namedPaths { paths.append(path) }
        }

        private func joined(_ path: String, _ name: [UInt8]) -> String {
            guard paths.count < namedPaths else { return "" }
            // A name from outside may have any length.
            let name = String(decoding: name.prefix(80), as: UTF8.self)
            return path.isEmpty ? name : "\(path).\(name)"
        }
    }

    /// Writes a value in the layout.
    private struct Arranger {
        let layout: JSONLayout
        let written: WrittenJSON
        var result: [UInt8] = []

        private var source: WrittenJSON { layout.source }

        mutating func arrange(_ node: Int, _ other: Int) {
            let range = source.nodes[node].range
            switch (source.nodes[node].kind, written.nodes[other].kind) {
            case _ where layout.unread.contains(node): result += source.bytes[range]
            case (.object, .object): arrangeMembers(node, other)
            case (.array, .array): arrangeElements(node, other)
            case (.object, _), (.array, _), (_, .object), (_, .array):
                result += written.bytes[written.nodes[other].range]
            default:
                if isSame(source, node, written, other) {
                    result += source.bytes[range]
                } else {
                    result += written.bytes[written.nodes[other].range]
                }
            }
        }

        private mutating func arrangeMembers(_ node: Int, _ other: Int) {
            var left = Members(written, other)
            let members = source.members(of: node)
            let ends = pieces(node, members.map { source.nodes[$0.value].range.upperBound })
            var position = source.nodes[node].range.lowerBound + 1
            var isFirst = true
            result.append(UInt8(ascii: "{"))
            for (member, end) in zip(members, ends) {
                let value = left.take(source.text(of: member.name))
                if layout.unread.contains(member.value) || value != nil {
                    separate(&isFirst)
                    result += source.bytes[position..<source.nodes[member.value].range.lowerBound]
                    // An unread value needs no counterpart.
                    arrange(member.value, value ?? 0)
                    result += source.bytes[source.nodes[member.value].range.upperBound..<end]
                }
                position = end + 1
            }
            let added = layout.added[node] ?? []
            for member in left.rest {
                let value = Array(written.bytes[written.nodes[member.value].range])
                guard !added.contains(where: { $0.name == member.name && $0.value == value }) else { continue }
                separate(&isFirst)
                result += written.bytes[written.nodes[member.nameNode].range]
                result.append(UInt8(ascii: ":"))
                result += value
            }
            if members.isEmpty { result += source.bytes[position..<source.nodes[node].range.upperBound - 1] }
            result.append(UInt8(ascii: "}"))
        }

        private mutating func arrangeElements(_ node: Int, _ other: Int) {
            let elements = source.elements(of: node)
            let others = written.elements(of: other)
            let ends = pieces(node, elements.map { source.nodes[$0].range.upperBound })
            var position = source.nodes[node].range.lowerBound + 1
            var isFirst = true
            result.append(UInt8(ascii: "["))
            for ((element, other), end) in zip(zip(elements, others), ends) {
                separate(&isFirst)
                result += source.bytes[position..<source.nodes[element].range.lowerBound]
                arrange(element, other)
                result += source.bytes[source.nodes[element].range.upperBound..<end]
                position = end + 1
            }
            for other in others.dropFirst(elements.count) {
                separate(&isFirst)
                result += written.bytes[written.nodes[other].range]
            }
            if elements.isEmpty { result += source.bytes[position..<source.nodes[node].range.upperBound - 1] }
            result.append(UInt8(ascii: "]"))
        }

        /// For each value of an object or array, the offset of the comma or bracket behind it.
        private func pieces(_ node: Int, _ values: [Int]) -> [Int] {
            let last = source.nodes[node].range.upperBound - 1
            return values.map { end in
                var end = end
                // Between a value and the comma or bracket behind it is only white space.
                while end < last, source.bytes[end] != UInt8(ascii: ",") { end += 1 }
                return end
            }
        }

        private mutating func separate(_ isFirst: inout Bool) {
            if !isFirst { result.append(UInt8(ascii: ",")) }
            isFirst = false
        }
    }

    /// The members of an object that were not taken yet.
    private struct Members {
        private let members: [Member]
        private let positions: [[UInt8]: Int]
        private var isTaken: [Bool]

        struct Member {
            let name: [UInt8]
            let nameNode: Int
            let value: Int
        }

        init(_ document: WrittenJSON, _ node: Int) {
            members = document.members(of: node).map {
                Member(name: document.text(of: $0.name), nameNode: $0.name, value: $0.value)
            }
            // The reader refuses two members of the same name.
            positions = Dictionary(members.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
            isTaken = Array(repeating: false, count: members.count)
        }

        mutating func take(_ name: [UInt8]) -> Int? {
            guard let position = positions[name] else { return nil }
            isTaken[position] = true
            return members[position].value
        }

        var rest: [Member] { zip(members, isTaken).filter { !$1 }.map(\.0) }
    }
}
