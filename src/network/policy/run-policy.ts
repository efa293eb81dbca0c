/**
 * NetworkPolicies on one node.
 *
 *     Pods, Namespaces --► PolicyGroups ─┐
 *     NetworkPolicies --► ───────────────┴► compilePolicies ──► difference ══► kernel
 *
 * When it stops, the rules stay: who was kept out stays out.
 */
import type { core } from "#api";
import { type Clock, type Logger, type Random, TaskGroup } from "#base";
import { type Client, Informers, objectKey, revisionOf, WorkReporter } from "#client";
import { Changed, tellKernel } from "../kernel/apply-to-kernel.ts";
import { Namespace, NetworkPolicy, Pod } from "../kernel/kinds.ts";
import { type Program, ProgramError, runProgram } from "../kernel/program.ts";
import { type Family, familyOf } from "../proxy/virtual-addresses.ts";
import { compilePolicies } from "./compile.ts";
import { PolicyGroups } from "./groups.ts";
import { dnsPod, policyPod } from "./pods.ts";
import { emptyPolicyTable, NOTHING, type PolicySnapshot, policyChanges, snapshotOf } from "./script.ts";

export interface PolicyOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly families: readonly Family[];
  /** Where the node itself answers as the cluster's DNS. */
  readonly nodeDns?: readonly string[];
  readonly resyncMs?: number;
  readonly run?: Program;
  readonly onReady?: () => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const DEFAULT_RESYNC_MS = 3_600_000;

/** Until the signal aborts. */
export async function runPolicy(options: PolicyOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, families, nodeName, nodeDns = [] } = options;
  const { onReady, resyncMs = DEFAULT_RESYNC_MS } = options;
  const tasks = new TaskGroup({ parent: signal });
  const informers = new Informers({ client, clock, random, log, tasks });
  const [pods, namespaces, policies] = [informers.of(Pod), informers.of(Namespace), informers.of(NetworkPolicy)];
  const groups = new PolicyGroups();
  const changed = new Changed();
  const putPod = (pod: core.Pod, isThere: boolean) => groups.put(objectKey(pod), isThere ? policyPod(pod) : undefined);
  const readNamespaces = () =>
    groups.setNamespaces(
      new Map(namespaces.cache.list().map(({ metadata: { name = "", labels = {} } }) => [name, labels])),
    );
  try {
    await informers.synced();
    for (const pod of pods.cache.list()) putPod(pod, true);
    // No Pod can have this key: names have no colon.
    if (nodeDns.length > 0) groups.put("node:dns", dnsPod(nodeDns));
    readNamespaces();
    pods.onChange(({ type, object }) => {
      putPod(object, type !== "deleted");
      changed.mark(revisionOf(object));
    });
    namespaces.onChange(({ object }) => {
      readNamespaces();
      changed.mark(revisionOf(object));
    });
    policies.onChange(({ object }) => changed.mark(revisionOf(object)));
    const reporter = new WorkReporter({ client, actor: `policy/${nodeName}`, log, signal });
    const kernels = families.map((family) => new PolicyTable(family, options));
    const tell = async (whole: boolean, telling: AbortSignal) => {
      const all = policies.cache.list();
      let hasTold = false;
      for (const kernel of kernels) {
        const rules = compilePolicies(all, groups, nodeName, kernel.family);
        hasTold = (await kernel.apply(snapshotOf(rules, kernel.family), whole, telling)) || hasTold;
      }
      return hasTold ? `rules for ${all.length} NetworkPolic${all.length === 1 ? "y" : "ies"}` : undefined;
    };
    tasks.run("network policy", (running) =>
      tellKernel({ changed, tell, reporter, resyncMs, onReady, clock, random, log }, running),
    );
    await tasks.done();
  } finally {
    await tasks.stop();
  }
}

/** One family's table in the kernel. */
export class PolicyTable {
  readonly family: Family;
  readonly #run: Program;
  readonly #log: Logger;
  readonly #nodeDns: readonly string[];
  #known: PolicySnapshot | undefined;

  constructor(family: Family, options: Pick<PolicyOptions, "run" | "log" | "nodeDns">) {
    const { run = runProgram, log, nodeDns = [] } = options;
    this.family = family;
    this.#nodeDns = nodeDns.filter((address) => familyOf(address) === family);
    this.#run = run;
    this.#log = log;
  }

  /** Whether there was anything to tell. */
  async apply(wanted: PolicySnapshot, whole: boolean, signal: AbortSignal): Promise<boolean> {
    let hasTold = true;
    const known = whole ? undefined : this.#known;
    this.#known = undefined;
    if (known === undefined) await this.#replace(wanted, signal);
    else {
      const script = policyChanges(this.family, known, wanted);
      hasTold = script !== "";
      try {
        if (script !== "") await this.#run("nft", ["-f", "-"], script, signal);
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        this.#log.warn("the table of policies is not as expected and is made anew", { error });
        await this.#replace(wanted, signal);
      }
    }
    this.#known = wanted;
    return hasTold;
  }

  /** In one transaction: at no moment is anything open that should not be. */
  async #replace(wanted: PolicySnapshot, signal: AbortSignal): Promise<void> {
    const script = `${emptyPolicyTable(this.family, this.#nodeDns)}\n${policyChanges(this.family, NOTHING, wanted)}`;
    await this.#run("nft", ["-f", "-"], script, signal);
  }
}
