/**
 * Deletes all objects of a namespace, of every resource, and returns what is left.
 *
 * 1. Pods go first: while a Pod is left, nothing else is deleted, so that what protects or serves it stays.
 * 2. A failure of one resource does not stop the others.
 * 3. A resource that could not be discovered is not known to be empty: the namespace stays.
 * 4. What is left without a finalizer, after the time that its Pods were given, is a failure.
 */
import { isStatusError, kinds } from "#api";
import { type Client, type DiscoveredResource, discoverResources } from "#client";
import type { Emptying } from "./conditions.ts";

const SIDE_BY_SIDE = 8;

/** What was found while one namespace was emptied. */
interface Findings {
  readonly failures: string[];
  readonly remaining: Map<string, number>;
  readonly finalizers: Map<string, number>;
  discoveryError?: string;
}

/** The namespace to empty, and for how many seconds it has been terminating. */
export interface Terminating {
  readonly name: string;
  readonly seconds: number;
}

export async function emptyNamespace(client: Client, namespace: Terminating, signal: AbortSignal): Promise<Emptying> {
  const findings: Findings = { failures: [], remaining: new Map(), finalizers: new Map() };
  const resources = await deletable(client, findings, signal);
  const pods = resources.filter(isPods);
  for (const resource of pods) await empty(client, resource, namespace, findings, signal);
  if (pods.length > 0 && (findings.remaining.size > 0 || findings.failures.length > 0)) return findings;
  const waiting = resources.filter((resource) => !isPods(resource));
  const worker = async () => {
    for (let resource = waiting.shift(); resource !== undefined; resource = waiting.shift())
      await empty(client, resource, namespace, findings, signal);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  return findings;
}

const isPods = ({ group, plural }: DiscoveredResource) => group === "" && plural === "pods";

async function deletable(
  client: Client,
  findings: Findings,
  signal: AbortSignal,
): Promise<readonly DiscoveredResource[]> {
  try {
    const { resources, unknownGroups } = await discoverResources(client, { signal });
    if (unknownGroups.size > 0)
      findings.discoveryError = `Discovery failed for some groups, ${unknownGroups.size} failing: unable to retrieve the complete list of server APIs: ${[...unknownGroups].sort().join(", ")}`;
    return resources.filter(({ namespaced, verbs }) => namespaced && verbs.includes("delete"));
  } catch (error) {
    if (signal.aborted) throw error;
    findings.discoveryError = messageOf(error);
    return [];
  }
}

async function empty(
  client: Client,
  resource: DiscoveredResource,
  { name, seconds }: Terminating,
  { failures, remaining, finalizers }: Findings,
  signal: AbortSignal,
): Promise<void> {
  try {
    const graceSeconds = isPods(resource) ? await longestGrace(client, name, signal) : 0;
    await deleteAll(client, resource, name, signal);
    const left = await client.metadataOf(resource).in(name).list({ signal });
    if (left.items.length === 0) return;
    remaining.set(`${resource.plural}.${resource.group}`, left.items.length);
    const found = left.items.flatMap(({ metadata }) => metadata.finalizers ?? []);
    for (const each of found) finalizers.set(each, (finalizers.get(each) ?? 0) + 1);
    if (found.length === 0 && seconds >= graceSeconds)
      failures.push(`unexpected items still remain in namespace: ${name} for gvr: ${gvr(resource)}`);
  } catch (error) {
    if (signal.aborted) throw error;
    // The resource is no longer served, or cannot be listed: nothing to delete.
    if (isStatusError(error) && (error.reason === "NotFound" || error.reason === "MethodNotAllowed")) return;
    failures.push(messageOf(error));
  }
}

/** How long the Pods that still run may take to stop. */
async function longestGrace(client: Client, namespace: string, signal: AbortSignal): Promise<number> {
  const { items } = await client.of(kinds.Pod).in(namespace).list({ signal });
  const running = items.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  return Math.max(0, ...running.map(({ spec }) => Number(spec?.terminationGracePeriodSeconds ?? 0)));
}

const gvr = ({ group, apiVersion, plural }: DiscoveredResource) =>
  `${group === "" ? "/" : ""}${apiVersion}, Resource=${plural}`;

async function deleteAll(
  client: Client,
  resource: DiscoveredResource,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const objects = client.metadataOf(resource).in(namespace);
  if (resource.verbs.includes("deletecollection")) {
    await objects.deleteCollection({ signal, propagationPolicy: "Background" });
    return;
  }
  for (const { metadata } of (await objects.list({ signal })).items)
    await objects.delete(metadata.name ?? "", { signal, propagationPolicy: "Background" });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
