/**
 * Why a reconcile ran, for the flow record: the revisions that woke its key, and its decision. Sent with its requests.
 */
import type { KubeObject } from "#api";
import type { ResourceOf } from "#client";
import { type Call, Works } from "#flows";
import type { Plan, Write } from "./plan.ts";
import { type Read, readWords } from "./reads.ts";
import { groupOf } from "./sources.ts";

/** A key may be woken many times before it runs: the latest revisions are kept. */
const MAX_WOKEN = 32;
/** Calls of earlier runs that ended without a request. */
const MAX_KEPT_CALLS = 8;

export class Causes {
  readonly #works: Works;
  readonly #resource: string | undefined;
  readonly #woken = new Map<string, number[]>();
  readonly #called = new Map<string, { readonly at: number; readonly calls: readonly Call[] }>();

  /** `about`: the resource of the objects whose keys are reconciled. */
  constructor(actor: string, about?: ResourceOf<KubeObject>) {
    this.#works = new Works(actor);
    this.#resource = about && pathOf(about);
  }

  woken(key: string, revision: number): void {
    const revisions = this.#woken.get(key);
    if (revisions === undefined) this.#woken.set(key, [revision]);
    // Two sources may report the same change.
    else if (!revisions.includes(revision) && revisions.push(revision) > MAX_WOKEN) revisions.shift();
  }

  take(key: string): readonly number[] {
    const revisions = this.#woken.get(key) ?? [];
    this.#woken.delete(key);
    return revisions;
  }

  /** The work is not finished: the next run has the same causes. */
  putBack(key: string, revisions: readonly number[]): void {
    if (revisions.length > 0) this.#woken.set(key, [...new Set([...revisions, ...this.take(key)])].slice(-MAX_WOKEN));
  }

  /** What a run called. It goes with the next request about the key. */
  called(key: string, at: number, calls: readonly Call[]): void {
    if (calls.length === 0) return;
    const { at: first, calls: before } = this.#called.get(key) ?? { at, calls: [] };
    const later = calls.map((call) => ({ ...call, afterMs: call.afterMs + at - first }));
    this.#called.set(key, { at: first, calls: [...before, ...later].slice(-MAX_KEPT_CALLS) });
  }

  /** There is nothing to do about the key. */
  forgetCalls(key: string): void {
    this.#called.delete(key);
  }

  of(key: string, woken: readonly number[], startedAt: number, plan: Plan, read: readonly Read[] = []): string {
    const decided = plan.decided ?? wordsOf((plan.steps ?? []).flat(), key);
    const resource = this.#resource;
    const { at = startedAt, calls } = this.#called.get(key) ?? {};
    this.#called.delete(key);
    const what = { about: key, resource, woken, read: readWords(read, key), startedAt: at, decided };
    return this.#works.cause({ ...what, ...(calls !== undefined && { calls }) });
  }
}

/** `pods`, `apps/deployments`. */
function pathOf(resource: ResourceOf<KubeObject>): string {
  const [group, plural] =
    "apiVersion" in resource
      ? [groupOf(resource.apiVersion), resource.plural]
      : [resource.group, resource.names.plural];
  return group === "" ? plural : `${group}/${plural}`;
}

/**
 * `create 3 Pods, patch Deployment web`. Who may get the object of the key reads these words: they name neither Secrets
 * nor objects of other namespaces.
 */
export function wordsOf(writes: readonly Write[], key: string): string {
  const groups = new Map<string, Write[]>();
  for (const write of writes) {
    const key = `${write.verb} ${write.resource.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), write]);
  }
  return [...groups.values()]
    .map((all) => {
      const [{ verb, resource, object }] = all as [Write];
      if (all.length > 1) return `${verb} ${all.length} ${resource.kind}s`;
      const { name = `${object.metadata.generateName}…`, namespace = "" } = object.metadata;
      const isNamed = resource.kind !== "Secret" && (namespace === "" || key.startsWith(`${namespace}/`));
      return isNamed ? `${verb} ${resource.kind} ${name}` : `${verb} 1 ${resource.kind}`;
    })
    .join(", ");
}
