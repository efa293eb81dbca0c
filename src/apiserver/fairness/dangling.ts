/**
 * The condition `Dangling` of FlowSchemas: whether the level that one names is missing.
 *
 * 1. The condition is corrected whoever changes it; where servers disagree, each writes it at most six times a minute.
 */
import { type flowcontrol, formatTime, instantOf, isStatusError } from "#api";
import { type Clock, type Logger, processQueue, type Random, WorkQueue } from "#base";
import type { Ensure } from "../loopback/ensure.ts";

const CONSUMER = "api-priority-and-fairness-config-consumer-v1";
const WRITES_PER_MINUTE = 6;
const MINUTE_MS = 60_000;

export interface Condition {
  readonly type: "Dangling";
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** The condition to write; undefined if it is right. */
export function danglingCondition({ spec, status }: flowcontrol.FlowSchema, exists: boolean): Condition | undefined {
  const level = JSON.stringify(spec?.priorityLevelConfiguration?.name ?? "");
  const about = `This FlowSchema references the PriorityLevelConfiguration object named ${level}`;
  const right: Condition = exists
    ? { type: "Dangling", status: "False", reason: "Found", message: `${about} and it exists` }
    : { type: "Dangling", status: "True", reason: "NotFound", message: `${about} but there is no such object` };
  const found = status?.conditions?.find(({ type }) => type === "Dangling");
  const same = found?.status === right.status && found.reason === right.reason && found.message === right.message;
  return same ? undefined : right;
}

export async function setDangling(ensure: Ensure, name: string, condition: Condition, now: string): Promise<void> {
  const conditions = [{ ...condition, lastTransitionTime: now }];
  await ensure.status("flowcontrol.apiserver.k8s.io", "flowschemas", name, { conditions }, CONSUMER);
}

export interface DanglingOptions {
  readonly ensure: Ensure;
  /** The condition to write for the schema of this name; undefined if it is right. */
  wanted(name: string): Condition | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class DanglingStatus {
  readonly #options: DanglingOptions;
  readonly #queue: WorkQueue<string>;
  readonly #written = new Map<string, number[]>();

  constructor(options: DanglingOptions) {
    const { clock, random } = options;
    this.#options = options;
    // Conflicts come from other servers, and take a while to go away.
    this.#queue = new WorkQueue({ clock, random, backoff: { initialMs: 200, maxMs: 8 * 60 * MINUTE_MS } });
  }

  /** The schema, its status or its level has changed. */
  look(name: string): void {
    if (this.#options.wanted(name) !== undefined) this.#queue.add(name);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    using _ = { [Symbol.dispose]: () => this.#queue.close() };
    await processQueue(
      this.#queue,
      {
        concurrency: 1,
        signal,
        onFailure: (error, schema) => {
          if (isStatusError(error, "NotFound")) return "drop";
          log.warn("the status of a flow schema could not be written; trying again", { schema, error });
          return "retry";
        },
      },
      (name) => this.#write(name),
    );
  }

  async #write(name: string): Promise<void> {
    const { ensure, wanted, clock, random } = this.#options;
    const condition = wanted(name);
    if (condition === undefined) return;
    const now = clock.monotonic();
    const recent = (this.#written.get(name) ?? []).filter((at) => now - at < MINUTE_MS);
    if (recent.length >= WRITES_PER_MINUTE) {
      this.#queue.addAfter(name, (30 + random.integer(45)) * 1000);
      return;
    }
    this.#written.set(name, [...recent, now]);
    await setDangling(ensure, name, condition, formatTime(instantOf(clock.now())));
  }
}
