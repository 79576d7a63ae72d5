// What the kit takes from Combine (iOS 13, macOS 10.15, tvOS 13, watchOS 6), declared without an implementation.

public final class ObservableObjectPublisher {
    public init() {}
    public func send() {}
}

public protocol ObservableObject: AnyObject {
    associatedtype ObjectWillChangePublisher = ObservableObjectPublisher
    var objectWillChange: ObjectWillChangePublisher { get }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
    public var objectWillChange: ObservableObjectPublisher { fatalError() }
}

@propertyWrapper public struct Published<Value> {
    public init(wrappedValue: Value) {}
    @available(*, unavailable)
    public var wrappedValue: Value { get { fatalError() } set {} }
    public static subscript<Owner: AnyObject>(
        _enclosingInstance object: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Owner, Published<Value>>
    ) -> Value { get { fatalError() } set {} }
}
