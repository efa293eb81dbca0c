/**
 * What a drill costs: a program on one machine writes and reads all the time, through that machine's balancer.
 *
 *     api-probe.mjs ──► lines, one for each call ──► measured(from, to) ──► the longest times without a success
 */
import { join } from "node:path";
import { realClock } from "../../../src/base/index.ts";
import type { Machine } from "./machine.ts";
import { until } from "./wait.ts";

export interface Call {
  readonly op: "write" | "read";
  readonly name: string;
  /** Milliseconds of the machine's clock. */
  readonly at: number;
  readonly ended: number;
  /** 0: no answer. */
  readonly status: number;
  readonly text: string;
}

export interface Cost {
  /** Seconds between two successful writes, at most; likewise for reads. */
  readonly withoutWrites: number;
  readonly withoutReads: number;
  /** Calls that failed: each is repeated by whoever makes it. */
  readonly failed: number;
  /** Answers to those of them that got one, by how often. */
  readonly answers: Readonly<Record<string, number>>;
}

export class Probe {
  readonly #running: ReturnType<Machine["start"]>;

  constructor(machine: Machine, kubeconfig: string, server: string) {
    const script = join(import.meta.dirname, "api-probe.mjs");
    this.#running = machine.start(process.execPath, script, kubeconfig, server);
  }

  get calls(): readonly Call[] {
    const lines = this.#running.stdout().split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Call);
  }

  /** Resolves when calls that began after `from` succeed: three of each kind. */
  async serves(from = 0): Promise<void> {
    const enough = (op: Call["op"]) => this.calls.filter((call) => call.op === op && call.at > from && isGood(call));
    await until(
      () => Math.min(enough("write").length, enough("read").length),
      (count) => count >= 3,
    );
  }

  /** While calls go on. */
  async waited(ms: number): Promise<void> {
    await realClock().sleep(ms);
  }

  /** When the first write ended well of those that began after this. */
  firstWrite(from: number): number {
    const good = this.calls.filter((call) => call.op === "write" && call.at > from && isGood(call));
    return Math.min(...good.map(({ ended }) => ended));
  }

  /** Names that were acknowledged. */
  get acknowledged(): readonly string[] {
    return this.calls.filter((call) => call.op === "write" && isGood(call)).map(({ name }) => name);
  }

  async stop(): Promise<void> {
    this.#running.process.kill("SIGTERM");
    await this.#running.ended();
  }
}

/** Of all that ended between the two. */
export function costOf(calls: readonly Call[], from: number, to: number): Cost {
  const within = calls.filter(({ ended }) => ended >= from && ended <= to);
  const failures = within.filter((call) => !isGood(call));
  const answers = Map.groupBy(failures, ({ status, text }) => (status === 0 ? text.slice(0, 60) : String(status)));
  return {
    withoutWrites: longestMs(within, "write", from, to) / 1000,
    withoutReads: longestMs(within, "read", from, to) / 1000,
    failed: failures.length,
    answers: Object.fromEntries([...answers].map(([answer, all]) => [answer, all.length])),
  };
}

function longestMs(calls: readonly Call[], op: Call["op"], from: number, to: number): number {
  const good = calls.filter((call) => call.op === op && isGood(call)).map(({ ended }) => ended);
  const moments = [from, ...good.sort((a, b) => a - b), to];
  return Math.max(...moments.slice(1).map((moment, i) => moment - (moments[i] ?? from)));
}

function isGood({ status }: Call): boolean {
  return status >= 200 && status < 300;
}
