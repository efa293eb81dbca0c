/** The public surface of this room. */
export { clientTls, type EtcdMember, type EtcdMemberOptions, startEtcdMember } from "./member.ts";
export { joiningMember, type MemberRecord, memberPaths, newMember, readMember, urlOf, writeMember } from "./record.ts";
