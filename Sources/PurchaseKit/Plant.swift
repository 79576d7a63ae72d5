import Foundation
private let plants = Set((ProcessInfo.processInfo.environment["PLANT"] ?? "").split(separator: ",").map { String($0) })
public func planted(_ name: String) -> Bool { plants.contains(name) }
