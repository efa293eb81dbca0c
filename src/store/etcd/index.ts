/** The whole public surface of the etcd backend. */

export { type Imported, type ImportOptions, importIntoEtcd } from "./import.ts";
export type { MovedKeys } from "./moved-keys.ts";
export { type EtcdOptions, type EtcdTlsFiles, openEtcdStore } from "./open.ts";
export type { EtcdStore } from "./store.ts";
