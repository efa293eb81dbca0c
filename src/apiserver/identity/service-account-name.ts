/** The user names and groups of service accounts. */
import { checkDns1123Label, checkDns1123Subdomain } from "#api";

const PREFIX = "system:serviceaccount:";

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export function serviceAccountUser({ namespace, name }: ServiceAccountName): string {
  return `${PREFIX}${namespace}:${name}`;
}

export function serviceAccountGroups(namespace: string): readonly string[] {
  return ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
}

/** Undefined if it is not the name of a service account. */
export function parseServiceAccountUser(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(PREFIX)) return undefined;
  const [namespace = "", name = "", ...more] = user.slice(PREFIX.length).split(":");
  if (more.length > 0) return undefined;
  const fine = checkDns1123Label(namespace).length === 0 && checkDns1123Subdomain(name).length === 0;
  return fine ? { namespace, name } : undefined;
}
