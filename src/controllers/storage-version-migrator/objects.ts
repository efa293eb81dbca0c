/**
 * The objects of a resource: found, listed, and written again as they are.
 *
 * 1. An object is written by an apply without fields, which names its uid and resourceVersion. A conflict says that
 *    somebody else has written or deleted it since, so there is nothing left to do for it.
 */
import { isStatusError, type KubeObject, type StatusReason } from "#api";
import { type Client, type DiscoveredResource, discoverResources, revisionOf } from "#client";
import type { Migration } from "./plan.ts";

const NEEDED_VERBS = ["update", "patch", "list"];
/** Answers of a server that may be another one a moment later. */
const PASSING: readonly StatusReason[] = [
  "Expired",
  "InternalError",
  "ServerTimeout",
  "ServiceUnavailable",
  "Timeout",
  "TooManyRequests",
];

export type Found =
  | { readonly kind: "resource"; readonly resource: DiscoveredResource }
  | { readonly kind: "absent" }
  /** Its extension server does not answer. */
  | { readonly kind: "unknown" };

/** In the preferred version of its group. */
export async function findResource(client: Client, { spec }: Migration, signal: AbortSignal): Promise<Found> {
  const { group = "", resource: plural = "" } = spec?.resource ?? {};
  const { resources, unknownGroups } = await discoverResources(client, { signal });
  const resource = resources.find((each) => each.group === group && each.plural === plural);
  if (resource !== undefined) return { kind: "resource", resource };
  return { kind: unknownGroups.has(group) ? "unknown" : "absent" };
}

/** As Kubernetes prints it: `apps/v1, Resource=deployments`. */
export function resourceText({ group, apiVersion, plural }: DiscoveredResource): string {
  return `${group}/${apiVersion.slice(apiVersion.indexOf("/") + 1)}, Resource=${plural}`;
}

/** Why its objects cannot be written; undefined: they can. */
export function unfit(resource: DiscoveredResource): string | undefined {
  if (NEEDED_VERBS.every((verb) => resource.verbs.includes(verb))) return undefined;
  const name = JSON.stringify(resourceText(resource));
  return `resource ${name} does not support discovery operations: [${NEEDED_VERBS.join(" ")}]`;
}

export function isWellFormed(resourceVersion: string): boolean {
  return /^[1-9]\d*$/.test(resourceVersion);
}

/** Whether the same may succeed later: also where there was no answer at all. */
export function isPassing(error: unknown): boolean {
  if (error instanceof IllFormedError) return false;
  return !isStatusError(error) || PASSING.some((reason) => isStatusError(error, reason));
}

/** All objects that were last written at this revision or before. */
export async function writeAll(client: Client, { resource, upTo, manager, signal }: Writing): Promise<void> {
  const found: KubeObject[] = [];
  // Listed before the first write: the pages of a list expire.
  for await (const object of client.metadataOf(resource).each({ signal })) found.push(object);
  for (const object of found) {
    const { resourceVersion = "" } = object.metadata;
    if (!isWellFormed(resourceVersion)) throw new IllFormedError(resourceVersion);
    if (revisionOf(object) <= upTo) await writeOne(client, object, { resource, manager, signal });
  }
}

export interface Writing {
  readonly resource: DiscoveredResource;
  readonly upTo: number;
  readonly manager: string;
  readonly signal: AbortSignal;
}

export class IllFormedError extends Error {
  constructor(resourceVersion: string) {
    super(`resource version is not well formed: ${resourceVersion}`);
  }
}

async function writeOne(
  client: Client,
  { metadata }: KubeObject,
  { resource, manager, signal }: Omit<Writing, "upTo">,
): Promise<void> {
  const { name = "", namespace, uid = "", resourceVersion = "" } = metadata;
  const all = client.of(resource);
  const objects = namespace === undefined ? all : all.in(namespace);
  try {
    await objects.apply({ metadata: { name, uid, resourceVersion } }, { fieldManager: manager, signal });
  } catch (error) {
    if (!isStatusError(error, "Conflict") && !isStatusError(error, "NotFound")) throw error;
  }
}
