/** How operations, tags and types are named after their group and version. */
import type { GroupVersionKind } from "./operation.ts";

/** CoreV1, RbacAuthorizationV1, StableExampleComV1. */
export function titleOf(group: string, version: string): string {
  return groupTitle(group) + capital(version);
}

/** Core, RbacAuthorization. */
export function groupTitle(group: string): string {
  const name = group === "" ? "core" : group.replace(/\.k8s\.io$/, "");
  return name
    .split(/[^A-Za-z0-9_]+/)
    .map(capital)
    .join("");
}

/** core_v1, rbacAuthorization_v1. */
export function tagOf(group: string, version?: string): string {
  const title = groupTitle(group);
  const tag = title.charAt(0).toLowerCase() + title.slice(1);
  return version === undefined ? tag : `${tag}_${version}`;
}

/** /api/v1, /apis/apps/v1. */
export function basePath(group: string, version: string): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** The full name of a custom kind's type: the group's parts in reverse order, as in com.example.stable.v1.CronTab. */
export function customTypeName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split(".").reverse(), version, kind].join(".");
}

export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** `a Pod`, `an Ingress`; plurals have none. */
export function withArticle(noun: string): string {
  if (noun.endsWith("s") && !noun.endsWith("ss")) return noun;
  return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}
