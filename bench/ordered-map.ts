/**
 * OrderedMap against a plain Map that is sorted or copied where order or a fork is needed, with 100,000 keys: processor
 * time, in turn, the median of the rounds. The bound is the Map's figure.
 */
import { OrderedMap } from "#base";
import type { Figure } from "./run.ts";

const KEYS = 100_000;
const NAMESPACES = 1000;
const WARM_UP_ROUNDS = 1;
const ROUNDS = 5;

const keys = Array.from({ length: KEYS }, (_, i) => `/registry/pods/ns-${(i * 7919) % NAMESPACES}/pod-${i}`);
const prefix = "/registry/pods/ns-500/";
const end = "/registry/pods/ns-5000";

let sum = 0;

export async function run(report: (figure: Figure) => void): Promise<void> {
  const ordered = new OrderedMap<string, number>(keys.map((key, i) => [key, i]));
  const plain = new Map<string, number>(keys.map((key, i) => [key, i]));
  const cases = [
    {
      name: "set a new key",
      times: KEYS,
      ordered: () => fill(new OrderedMap<string, number>()),
      plain: () => fill(new Map<string, number>()),
    },
    { name: "get", times: KEYS, ordered: () => readAll(ordered), plain: () => readAll(plain) },
    {
      name: "list one namespace of 100 in order",
      times: 20,
      ordered: () => repeat(20, () => [...ordered.entries({ from: prefix, before: end })]),
      plain: () => repeat(20, () => [...plain].filter(([key]) => key.startsWith(prefix)).sort()),
    },
    {
      name: "fork, then write one key",
      times: 20,
      ordered: () => repeat(20, () => ordered.fork().set(prefix, 0)),
      plain: () => repeat(20, () => new Map(plain).set(prefix, 0)),
    },
  ];
  for (const { name, times, ordered: subject, plain: twin } of cases) {
    const [value, bound] = inTurn(times, subject, twin);
    if (Number.isNaN(sum)) throw new Error("A key is missing.");
    report({ name: `${name}, of 100,000`, value, unit: "ns", bound });
  }
}

interface Settable {
  get(key: string): number | undefined;
  set(key: string, value: number): unknown;
}

function fill(map: Settable): void {
  for (const [i, key] of keys.entries()) map.set(key, i);
}

/** The sum is used below, so that the reads are not optimized away. */
function readAll(map: Settable): void {
  for (const key of keys) sum += map.get(key) ?? 0;
}

function repeat(times: number, work: () => unknown): void {
  for (let i = 0; i < times; i++) work();
}

function inTurn(times: number, subject: () => void, twin: () => void): [number, number] {
  const rounds: [number[], number[]] = [[], []];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    rounds[0].push(nanoseconds(times, subject));
    rounds[1].push(nanoseconds(times, twin));
  }
  return [median(rounds[0]), median(rounds[1])];
}

function nanoseconds(times: number, work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return ((user + system) * 1000) / times;
}

function median(values: readonly number[]): number {
  return [...values.slice(WARM_UP_ROUNDS)].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
