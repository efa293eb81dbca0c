/**
 * Compressing a list: what the first list costs, one after a change, and one without a change.
 *
 * 1. The bound is the list compressed as a whole each time. Times are those of the process with all of its threads.
 */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { builtIn, type Kind, type KubeObject } from "#api";
import { encodeForStore, StoredObject } from "../src/apiserver/cache/stored-object.ts";
import { listBody } from "../src/apiserver/encode/list-body.ts";
import { packedList } from "../src/apiserver/encode/packed-list.ts";
import { pod } from "./apiserver/objects.ts";
import type { Figure } from "./run.ts";

const COUNT = 3_000;
const ROUNDS = 40;
const kind = builtIn.find(({ group, kind }) => group === "" && kind === "Pod") as Kind;
const compress = promisify(gzip);

export async function run(report: (figure: Figure) => void): Promise<void> {
  let revision = 0;
  const stored = (at: number) => {
    const parsed = JSON.parse(pod.replaceAll("{i}", String(at))) as KubeObject;
    const object = { ...parsed, metadata: { ...parsed.metadata, uid: crypto.randomUUID() } };
    const made = new StoredObject({ key: `default/pod-${at}`, revision: ++revision, value: encodeForStore(object) });
    made.line;
    return made;
  };
  const all = () => Array.from({ length: COUNT }, (_, at) => stored(at));
  const objects = all();
  const whole = async () => compress(Buffer.concat(listBody(kind, {}, [...objects])), { level: 1 });
  const packed = () => packedList(kind, {}, objects);
  const cold = Array.from({ length: 8 }, all);
  const bound = await cost(whole, ROUNDS);
  const figure = (name: string, value: number) =>
    report({ name: `${COUNT} Pods, ${name}`, value, unit: "µs of cpu", bound, ratio: value / bound });
  await cost(packed, 5);
  figure("first list", await cost(() => packedList(kind, {}, cold.pop() ?? []), 8));
  const changed = Array.from({ length: ROUNDS }, (_, at) => stored(at * 67));
  const change = () => {
    const one = changed.pop() as StoredObject;
    objects[Number(one.key.slice("default/pod-".length))] = one;
    return packed();
  };
  figure("one has changed", await cost(change, ROUNDS));
  figure("none has changed", await cost(packed, ROUNDS));
  report({ name: "size", value: (await packed()).length, unit: "bytes", bound: (await whole()).length });
}

async function cost(work: () => Promise<unknown>, rounds: number): Promise<number> {
  const from = process.cpuUsage();
  for (let round = 0; round < rounds; round++) await work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / rounds;
}
