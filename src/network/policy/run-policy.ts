/**
 * NetworkPolicies on one node.
 *
 *     Pods, Namespaces --► PolicyGroups ─┐
 *     NetworkPolicies --► ───────────────┴► compilePolicies ──► difference ══► kernel
 *
 * When it stops, the rules stay in the kernel.
 */
import { type core, kinds } from "#api";
import { type Clock, type Logger, type Random, TaskGroup } from "#base";
import { type Client, Informers, objectKey, revisionOf, WorkReporter } from "#client";
import { applyToKernel } from "../kernel/apply-to-kernel.ts";
import { ChangeSignal } from "../kernel/change-signal.ts";
import { type Family, familyOf } from "../kernel/ip-family.ts";
import { type Program, ProgramError, runProgram } from "../kernel/program.ts";
import { compilePolicies } from "./compile.ts";
import { PolicyGroups } from "./groups.ts";
import { dnsPod, policyPod } from "./pods.ts";
import { emptyPolicyTable, NO_RULES, type PolicySnapshot, policyChanges, snapshotOf } from "./script.ts";

export interface PolicyOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly families: readonly Family[];
  /** Addresses of the node's own DNS server. */
  readonly nodeDns?: readonly string[] | undefined;
  readonly resyncMs?: number | undefined;
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
  const [pods, namespaces, policies] = [
    informers.of(kinds.Pod),
    informers.of(kinds.Namespace),
    informers.of(kinds.NetworkPolicy),
  ];
  const groups = new PolicyGroups();
  const changed = new ChangeSignal();
  const putPod = (pod: core.Pod, isThere: boolean) => groups.put(objectKey(pod), isThere ? policyPod(pod) : undefined);
  const readNamespaces = () =>
    groups.setNamespaces(
      new Map(namespaces.cache.list().map(({ metadata: { name = "", labels = {} } }) => [name, labels])),
    );
  try {
    await informers.synced();
    for (const pod of pods.cache.list()) putPod(pod, true);
    // No Pod can have this key: names contain no colon.
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
    const apply = async (whole: boolean, applying: AbortSignal) => {
      const all = policies.cache.list();
      let hasChanged = false;
      for (const kernel of kernels) {
        const rules = compilePolicies(all, groups, nodeName, kernel.family);
        hasChanged = (await kernel.apply(snapshotOf(rules, kernel.family), whole, applying)) || hasChanged;
      }
      return hasChanged ? `rules for ${all.length} NetworkPolic${all.length === 1 ? "y" : "ies"}` : undefined;
    };
    tasks.run("network policy", (running) =>
      applyToKernel({ changed, apply, reporter, resyncMs, onReady, clock, random, log }, running),
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

  /** Returns whether anything had to change. */
  async apply(wanted: PolicySnapshot, whole: boolean, signal: AbortSignal): Promise<boolean> {
    let hasChanged = true;
    const known = whole ? undefined : this.#known;
    this.#known = undefined;
    if (known === undefined) await this.#replace(wanted, signal);
    else {
      const script = policyChanges(this.family, known, wanted);
      hasChanged = script !== "";
      try {
        if (script !== "") await this.#run("nft", ["-f", "-"], script, signal);
      } catch (error) {
        if (!(error instanceof ProgramError)) throw error;
        this.#log.warn("the policy table is not as expected and is replaced", { error });
        await this.#replace(wanted, signal);
      }
    }
    this.#known = wanted;
    return hasChanged;
  }

  /** In one transaction, so that isolation has no gap. */
  async #replace(wanted: PolicySnapshot, signal: AbortSignal): Promise<void> {
    const script = `${emptyPolicyTable(this.family, this.#nodeDns)}\n${policyChanges(this.family, NO_RULES, wanted)}`;
    await this.#run("nft", ["-f", "-"], script, signal);
  }
}
