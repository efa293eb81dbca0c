/** The public surface of this room. */
export { clientTls, type EtcdMember, type EtcdMemberOptions, startEtcdMember } from "./member.ts";
export { type Migrated, type MigrateOptions, migrate } from "./migrate.ts";
export { joiningMember, type MemberRecord, memberPaths, newMember, readMember, urlOf, writeMember } from "./record.ts";
export { forceNewCluster, recoverFromSnapshot } from "./recover.ts";
export { memberOf, openStoppedStore, storeOf } from "./stopped-store.ts";
