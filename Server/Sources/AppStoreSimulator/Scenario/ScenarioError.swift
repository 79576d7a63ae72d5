import Foundation

/// An error in a scenario file.
public struct ScenarioError: Error, Sendable, CustomStringConvertible {
    /// The line, from 1; nil if the error is about the whole file.
    public let line: Int?
    /// The error and what to write instead.
    public let words: String

    init(_ line: Int?, _ words: String) {
        (self.line, self.words) = (line, words)
    }

    /// The line and the words.
    public var description: String { line.map { "line \($0): \(words)" } ?? words }
}
