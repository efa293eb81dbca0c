/**
 * A list as protobuf: what the first list costs, and one after a change. The bound is the list encoded as a whole each
 * time.
 */
import { builtIn, encodeProtobuf, type JsonObject, type Kind, type KubeObject, typeSchema } from "#api";
import { encodeForStore, StoredObject } from "../src/apiserver/cache/stored-object.ts";
import { protobufItems } from "../src/apiserver/encode/protobuf-list.ts";
import { pod } from "./apiserver/objects.ts";
import type { Figure } from "./run.ts";

const COUNT = 3_000;
const ROUNDS = 10;
const kind = builtIn.find(({ group, kind }) => group === "" && kind === "Pod") as Kind;
const schema = typeSchema("io.k8s.api.core.v1.PodList");

export async function run(report: (figure: Figure) => void): Promise<void> {
  let revision = 0;
  const stored = (at: number) => {
    const parsed = JSON.parse(pod.replaceAll("{i}", String(at))) as KubeObject;
    const object = { ...parsed, metadata: { ...parsed.metadata, uid: crypto.randomUUID() } };
    const made = new StoredObject({ key: `default/pod-${at}`, revision: ++revision, value: encodeForStore(object) });
    made.object;
    return made;
  };
  const all = () => Array.from({ length: COUNT }, (_, at) => stored(at));
  const objects = all();
  const items = (of: readonly StoredObject[]) => protobufItems(kind, schema, of, (one) => one.object);
  const whole = () =>
    encodeProtobuf(schema, { metadata: {}, items: objects.map(({ object }) => object) } as unknown as JsonObject);
  const cold = Array.from({ length: ROUNDS }, all);
  const bound = cost(whole);
  const figure = (name: string, value: number) =>
    report({ name: `${COUNT} Pods, ${name}`, value, unit: "µs of cpu", bound, ratio: value / bound });
  figure(
    "first list",
    cost(() => items(cold.pop() ?? [])),
  );
  items(objects);
  const changed = Array.from({ length: ROUNDS }, (_, at) => stored(at * 67));
  const change = () => {
    const one = changed.pop() as StoredObject;
    objects[Number(one.key.slice("default/pod-".length))] = one;
    return items(objects);
  };
  figure("one has changed", cost(change));
}

function cost(work: () => unknown): number {
  const from = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round++) work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / ROUNDS;
}
