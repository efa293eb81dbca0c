/** A store for several threads of one process. */

export { type HostOptions, StoreHost } from "./host.ts";
export type { StorePort } from "./hosted-port.ts";
export { NewestRevision } from "./newest-revision.ts";
export { openRemoteStore, type RemoteStore } from "./remote-store.ts";
