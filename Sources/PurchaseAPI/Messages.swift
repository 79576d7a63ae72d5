// What apps and servers exchange is a module of its own, so that apps link nothing else of the interface.
@_exported public import PurchaseMessages
