/** Validation of the status of a StorageVersion: what each server says, and what they have in common. */
import { duplicate, type FieldError, type FieldPath, invalid, required } from "../machinery/errors/field-error.ts";
import { checkDns1035Label, checkDns1123Subdomain, checkQualifiedName } from "../machinery/names/names.ts";
import type {
  ServerStorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from "../types/apiserverinternal-v1alpha1.ts";

const label =
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

export function validateStorageVersionStatus(status: StorageVersionStatus, at: FieldPath): readonly FieldError[] {
  const { storageVersions: servers = [], conditions = [] } = status;
  const seen = new Set<string>();
  const errors = servers.flatMap((server, i) => {
    const where = at.child("storageVersions").index(i);
    const repeated = seen.has(server.apiServerID) ? [duplicate(where.child("apiServerID"), server.apiServerID)] : [];
    seen.add(server.apiServerID);
    return [...repeated, ...validateServer(server, where)];
  });
  return [
    ...errors,
    ...validateCommon(status, at.child("commonEncodingVersion")),
    ...validateConditions(conditions, at),
  ];
}

function validateServer(server: ServerStorageVersion, at: FieldPath): readonly FieldError[] {
  const { apiServerID = "", encodingVersion = "", decodableVersions, servedVersions = [] } = server;
  const decodable = decodableVersions ?? [];
  const errors = checkDns1123Subdomain(apiServerID).map((why) => invalid(at.child("apiServerID"), apiServerID, why));
  errors.push(...apiVersionFaults(encodingVersion, at.child("encodingVersion")));
  errors.push(...decodable.flatMap((one, i) => apiVersionFaults(one, at.child("decodableVersions").index(i))));
  if (!decodable.includes(encodingVersion)) {
    const why = `decodableVersions must include encodingVersion ${encodingVersion}`;
    errors.push(invalid(at.child("decodableVersions"), decodable, why));
  }
  for (const [i, served] of servedVersions.entries()) {
    const where = at.child("servedVersions").index(i);
    errors.push(...apiVersionFaults(served, where));
    if (decodable.includes(served)) continue;
    const known = `[${decodable.join(" ")}]`;
    const why = `individual served version : ${served} must be included in decodableVersions : ${known}`;
    errors.push(invalid(where, served, why));
  }
  return errors;
}

/** The version that all servers write; undefined where they differ, or where there is none. */
export function commonVersion(servers: readonly ServerStorageVersion[]): string | undefined {
  const [first] = servers;
  return servers.every(({ encodingVersion }) => encodingVersion === first?.encodingVersion)
    ? first?.encodingVersion
    : undefined;
}

function validateCommon(
  { storageVersions = [], commonEncodingVersion: said }: StorageVersionStatus,
  at: FieldPath,
): readonly FieldError[] {
  const actual = commonVersion(storageVersions);
  if (actual === said) return [];
  if (actual === undefined) {
    const why =
      "should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet";
    return [invalid(at, said ?? null, why)];
  }
  if (said === undefined) return [invalid(at, null, `the common encoding version is ${actual}`)];
  return [invalid(at, said, `the actual common encoding version is ${actual}`)];
}

/** The path of Kubernetes lacks the name of the list. */
function validateConditions(conditions: readonly StorageVersionCondition[], at: FieldPath): readonly FieldError[] {
  const seen = new Map<string, number>();
  return conditions.flatMap(({ type, status, reason, message }, i) => {
    const where = at.index(i);
    const before = seen.get(type);
    seen.set(type, i);
    const why = `the type of the condition is not unique, it also appears in conditions[${before}]`;
    return [
      ...(before === undefined ? [] : [invalid(where.child("type"), type, why)]),
      ...checkQualifiedName(type).map((fault) => invalid(where.child("type"), type, fault)),
      ...checkQualifiedName(status).map((fault) => invalid(where.child("status"), status, fault)),
      ...(reason ? [] : [required(where.child("reason"), "reason cannot be empty")]),
      ...(message ? [] : [required(where.child("message"), "message cannot be empty")]),
    ];
  });
}

/** A version, with or without a group before it. All faults are one error. */
function apiVersionFaults(apiVersion: string, at: FieldPath): readonly FieldError[] {
  const parts = apiVersion.split("/");
  const version = parts.at(-1) ?? "";
  const faults: string[] = [];
  if (parts.length > 2) {
    const prefix = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')";
    return [invalid(at, apiVersion, `an apiVersion is ${label} ${prefix}`)];
  }
  if (parts.length === 2) faults.push(...partFaults("group", parts[0] ?? "", checkDns1123Subdomain));
  faults.push(...partFaults("version", version, checkDns1035Label));
  return faults.length === 0 ? [] : [invalid(at, apiVersion, faults.join(","))];
}

function partFaults(name: string, value: string, check: (value: string) => readonly string[]): readonly string[] {
  return (value === "" ? ["must be non-empty"] : check(value)).map((why) => `${name} part: ${why}`);
}
