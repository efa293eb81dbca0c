/**
 * The next state of a StorageVersion.
 *
 * 1. Entries of servers that are gone are removed; without any entry, the StorageVersion is deleted.
 * 2. The common version and its condition follow from the entries that are left.
 */
import { type apiserverinternal, formatTime, instantOf, type KubeObject, optional } from "#api";
import type { Plan } from "../runtime/index.ts";

type StorageVersion = apiserverinternal.StorageVersion;
type Status = apiserverinternal.StorageVersionStatus;

const CONDITION = "AllEncodingVersionsEqual";

/** The Lease is that of an API server. */
export function isIdentity({ metadata }: KubeObject): boolean {
  return metadata.labels?.["apiserver.kubernetes.io/identity"] === "kube-apiserver";
}

/** The servers that have an entry. */
export function serversOf({ status }: StorageVersion): readonly string[] {
  return (status?.storageVersions ?? []).map(({ apiServerID = "" }) => apiServerID);
}

export function planStorageVersion(
  version: StorageVersion,
  living: ReadonlySet<string>,
  now: number,
): Plan | undefined {
  const all = version.status?.storageVersions ?? [];
  const left = all.filter(({ apiServerID = "" }) => living.has(apiServerID));
  if (left.length === all.length) return undefined;
  const resource = optional.StorageVersion;
  // A server that has just added its entry has changed the object.
  if (left.length === 0) return { steps: [[{ verb: "delete", resource, object: version, unchanged: true }]] };
  const object: StorageVersion = { ...version, status: statusOf(version, left, now) };
  return { steps: [[{ verb: "updateStatus", resource, object }]] };
}

function statusOf(
  { metadata, status: old }: StorageVersion,
  left: NonNullable<Status["storageVersions"]>,
  now: number,
): Status {
  const versions = new Set(left.map(({ encodingVersion }) => encodingVersion));
  const [common] = versions.size === 1 ? versions : [];
  const before = old?.conditions?.find(({ type }) => type === CONDITION);
  const status = common === undefined ? "False" : "True";
  const replaced =
    common !== undefined && old?.commonEncodingVersion !== undefined && common !== old.commonEncodingVersion;
  const kept = before?.status === status && !replaced ? before.lastTransitionTime : undefined;
  const condition = {
    type: CONDITION,
    status,
    observedGeneration: metadata.generation ?? 0,
    lastTransitionTime: kept ?? formatTime(instantOf(now)),
    reason: common === undefined ? "CommonEncodingVersionUnset" : "CommonEncodingVersionSet",
    message: common === undefined ? "Common encoding version unset" : "Common encoding version set",
  };
  const conditions = old?.conditions ?? [];
  return {
    storageVersions: left,
    ...(common === undefined ? {} : { commonEncodingVersion: common }),
    conditions:
      before === undefined
        ? [...conditions, condition]
        : conditions.map((each) => (each === before ? condition : each)),
  };
}
