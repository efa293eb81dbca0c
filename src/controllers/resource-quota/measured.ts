/**
 * The objects that quotas measure, watched only if a quota needs them.
 *
 * 1. Pods, Services and claims are watched as a whole; of all other objects only metadata.
 * 2. A deleted object, or one whose usage has changed, triggers the quotas of its namespace. New objects were charged
 *    by admission; they trigger the quotas later, because a count between the charge and the object misses it.
 */
import { equalJson, evaluatorFor, type KubeObject, kinds, type QuotaEvaluator, quotaEvaluators, usedTexts } from "#api";
import type { TaskGroup } from "#base";
import {
  type Change,
  type DiscoveredResource,
  discoverResources,
  type Informer,
  Informers,
  type ResourceOf,
} from "#client";
import type { ControllerContext } from "../runtime/index.ts";

/** Kinds whose fields are measured. */
const WHOLE = new Map<string, ResourceOf<KubeObject>>([
  ["/pods", kinds.Pod as ResourceOf<KubeObject>],
  ["/services", kinds.Service as ResourceOf<KubeObject>],
  ["/persistentvolumeclaims", kinds.PersistentVolumeClaim as ResourceOf<KubeObject>],
  ["resource.k8s.io/resourceclaims", kinds.ResourceClaim as ResourceOf<KubeObject>],
]);

/** Longer than writes that have been charged take to be stored. */
const CREATED_MS = 1_000;

/** The quotas of a namespace have to be counted anew, after a while. */
export type Touched = (namespace: string, afterMs: number) => void;

export class Measured {
  readonly #context: ControllerContext;
  readonly #metadata: Informers;
  readonly #touched: Touched;
  readonly #followed = new Map<string, Informer<KubeObject>>();
  #discovered: readonly DiscoveredResource[] = [];

  constructor(context: ControllerContext, tasks: TaskGroup, touched: Touched) {
    const { client, clock, random, log } = context;
    this.#context = context;
    this.#metadata = new Informers({ client, clock, random, log, tasks, metadataOnly: true });
    this.#touched = touched;
  }

  /** The evaluators of these resources; resolves when their objects are in the caches. */
  async evaluatorsFor(hard: readonly string[], signal: AbortSignal): Promise<readonly QuotaEvaluator[]> {
    const found = quotaEvaluators.filter((each) => each.matching(hard).length > 0);
    const counted = hard.filter(
      (name) => name.startsWith("count/") && !found.some((each) => each.matching([name]).length > 0),
    );
    for (const name of counted) {
      const resource = await this.#resourceOf(name.slice("count/".length), signal);
      const evaluator = resource && evaluatorFor(resource.group, resource.plural);
      if (evaluator !== undefined) found.push(evaluator);
    }
    for (const each of found) await this.#follow(each, signal);
    return found;
  }

  objects({ group, plural }: QuotaEvaluator, namespace: string): readonly KubeObject[] {
    return this.#followed.get(`${group}/${plural}`)?.cache.inNamespace(namespace) ?? [];
  }

  /** All of these are known up to this revision. */
  revision(evaluators: readonly QuotaEvaluator[]): number {
    const revisions = evaluators.map(
      ({ group, plural }) => this.#followed.get(`${group}/${plural}`)?.cache.revision ?? Number.POSITIVE_INFINITY,
    );
    return Math.min(...revisions);
  }

  async #follow(evaluator: QuotaEvaluator, signal: AbortSignal): Promise<void> {
    const { group, plural } = evaluator;
    const key = `${group}/${plural}`;
    let informer = this.#followed.get(key);
    if (informer === undefined) {
      const whole = WHOLE.get(key);
      const resource = whole ?? (await this.#resourceOf(group === "" ? plural : `${plural}.${group}`, signal));
      if (resource === undefined) return;
      informer = whole === undefined ? this.#metadata.of(resource) : this.#context.informers.of(whole);
      this.#followed.set(key, informer);
      informer.onChange((change) => {
        const { namespace = "" } = change.object.metadata;
        if (change.type === "added") this.#touched(namespace, CREATED_MS);
        else if (this.#frees(evaluator, change)) this.#touched(namespace, 0);
      });
    }
    await informer.synced;
  }

  #frees(evaluator: QuotaEvaluator, { type, object, old }: Change<KubeObject>): boolean {
    if (type !== "updated") return type === "deleted";
    const now = this.#context.clock.now();
    const used = (each: KubeObject) =>
      usedTexts({ used: evaluator.usage(each, now), hard: {}, quota: { metadata: {} } });
    return !equalJson(used(object), used(old));
  }

  /** `deployments.apps`, or a plural of the core group. */
  async #resourceOf(name: string, signal: AbortSignal): Promise<DiscoveredResource | undefined> {
    const find = () =>
      this.#discovered.find(({ group, plural }) => (group === "" ? plural : `${plural}.${group}`) === name);
    const known = find();
    if (known !== undefined) return known;
    this.#discovered = (await discoverResources(this.#context.client, { signal })).resources;
    return find();
  }
}
