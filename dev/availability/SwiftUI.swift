// What the kit takes from SwiftUI, declared without an implementation.

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension View where Body == Never { public var body: Never { fatalError() } }
extension Never: View { public typealias Body = Never }
extension Optional: View where Wrapped: View { public typealias Body = Never }

@resultBuilder public struct ViewBuilder {
    public static func buildBlock<A: View>(_ a: A) -> A { a }
    public static func buildBlock<A: View, B: View>(_ a: A, _ b: B) -> Either<A, B> {}
    public static func buildBlock<A: View, B: View, C: View>(_ a: A, _ b: B, _ c: C) -> Either<A, Either<B, C>> {}
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { fatalError() }
    public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { fatalError() }
}

public struct Either<First: View, Second: View>: View { public typealias Body = Never }
public struct VStack<Content: View>: View { public init(@ViewBuilder content: () -> Content) {} }
public struct List<Content: View>: View { public init(@ViewBuilder content: () -> Content) {} }

public struct ForEach<Data: RandomAccessCollection, Content: View>: View where Data.Element: Identifiable {
    public init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
}

@propertyWrapper public struct Binding<Value> {
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { self }
}

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value { get { fatalError() } nonmutating set {} }
    public var projectedValue: Binding<Value> { fatalError() }
}

extension View {
    @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public func task(_ action: @escaping @Sendable () async -> Void) -> some View { self }
    @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public func task(
        id: some Equatable, _ action: @escaping @MainActor @Sendable () async -> Void
    ) -> some View { self }
    public func environmentObject<Object: ObservableObject>(_ object: Object) -> some View { self }
}

@MainActor @preconcurrency public protocol ViewModifier {
    associatedtype Body: View
    typealias Content = ModifiedContent
    @ViewBuilder func body(content: Content) -> Body
}

public struct ModifiedContent: View { public typealias Body = Never }
public struct Modified<Content: View, Modifier: ViewModifier>: View { public typealias Body = Never }

extension View {
    public func modifier<Modifier: ViewModifier>(_ modifier: Modifier) -> Modified<Self, Modifier> { fatalError() }
}

@_exported public import Combine

@propertyWrapper public struct ObservedObject<Object: ObservableObject> {
    public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
    public var wrappedValue: Object
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
@propertyWrapper @MainActor @preconcurrency public struct StateObject<Object: ObservableObject> {
    public init(wrappedValue: @autoclosure @escaping () -> Object) {}
    public var wrappedValue: Object { fatalError() }
}

@propertyWrapper @MainActor @preconcurrency public struct EnvironmentObject<Object: ObservableObject> {
    public init() {}
    public var wrappedValue: Object { fatalError() }
}

@available(iOS 14.0, macOS 11.0, tvOS 14.0, watchOS 7.0, visionOS 1.0, *)
public struct ProgressView: View { public init() {} }
public struct Text: View { public init(_ text: String) {} }

public struct Button: View {
    public init(_ title: String, action: @escaping @MainActor () -> Void) {}
    public func disabled(_ isDisabled: Bool) -> some View { self }
}

@MainActor @preconcurrency public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder static var previews: Previews { get }
}

@MainActor @preconcurrency public protocol Scene {}
public struct WindowGroup<Content: View>: Scene { public init(@ViewBuilder content: () -> Content) {} }

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
}

extension App { public static func main() {} }
