/** What others need of machines that join, without what runs them: worker.ts and open-for-machines.ts load more. */
export { caHash, isCaHash } from "./ca-hash.ts";
export type { JoinRequest } from "./join-cluster.ts";
export { type JoinRecord, readJoinRecord } from "./join-record.ts";
export { joinCommand, REMOVED } from "./names.ts";
export * from "./tokens.ts";
export type { Worker, WorkerConfig } from "./worker.ts";
