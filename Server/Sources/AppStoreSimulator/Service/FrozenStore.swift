/// A store and its notifications as they were at one moment.
struct FrozenStore: Sendable {
    var store: AppStore
    var notifications: StoreTable<ScheduledNotification>
}
