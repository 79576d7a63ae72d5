/// More work waits than the limit allows.
package struct WorkersBusy: Error {}
