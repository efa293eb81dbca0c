/** The whole public surface of the store; backends are loaded when they are opened. */

export type { EtcdTlsFiles, Imported, ImportOptions, MovedKeys } from "./etcd/index.ts";
export type { HistoryPolicy } from "./history/history.ts";
export type { EtcdMembers, Joining, StoreMember } from "./members/members.ts";
export type { MemorySnapshot, MemoryStore } from "./memory/index.ts";
export { openMemoryStore, restoreMemoryStore } from "./memory/index.ts";
export { isStoreError, StoreError, type StoreErrorCode, type StoreErrorDetails } from "./model/errors.ts";
export type {
  CallOptions,
  Change,
  Entry,
  ListOptions,
  Page,
  ReadOptions,
  Revision,
  Store,
  Watch,
  WatchBatch,
  WatchOptions,
  WriteOutcome,
} from "./model/store.ts";
export { importIntoEtcd, openEtcdMembers, openStore, restoreStore, type StoreOptions, type StoreSpec } from "./open.ts";
export {
  type RestoreOptions,
  readSnapshot,
  type Snapshot,
  type SnapshotHeader,
  verifySnapshot,
  writeSnapshot,
} from "./snapshot/snapshot-file.ts";
export { openRemoteStore, type RemoteStore, StoreHost, type StorePort } from "./threads/index.ts";
