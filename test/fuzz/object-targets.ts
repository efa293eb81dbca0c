/** What clients send to change objects, and the expressions that judge them: patches, apply, CEL. */
import {
  applyConfiguration,
  builtIn,
  CborError,
  decodeCbor,
  encodeCbor,
  isObject,
  type Json,
  type JsonObject,
  JsonSyntaxError,
  parseDocument,
  StatusError,
} from "#api";
import { type ManagedFields, parseOwners } from "../../src/api/machinery/apply/index.ts";
import { toJson } from "../../src/api/machinery/cel/index.ts";
import { admission, baseEnvironment } from "../../src/api/machinery/cel/libraries/index.ts";
import { dyn, int, list, map, string } from "../../src/api/machinery/cel/values/type.ts";
import { equalJson } from "../../src/api/machinery/json/equal.ts";
import { applyJsonPatch, decodeJsonPatch, JsonPatchError } from "../../src/api/machinery/patch/json-patch.ts";
import { applyMergePatch, createMergePatch } from "../../src/api/machinery/patch/merge-patch.ts";
import {
  applyStrategicMergePatch,
  spentStrategicMergePatch,
} from "../../src/api/machinery/patch/strategic-merge-patch.ts";
import { ensure, hex, type Targets, texts } from "./target.ts";

const schema = builtIn.find(({ kind, group }) => kind === "Pod" && group === "")?.schema ?? fail();
const port = { containerPort: 80, protocol: "TCP" };
const pod: JsonObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web", namespace: "ns", labels: { app: "web" }, finalizers: ["a/b", "c/d"] },
  spec: {
    containers: [
      { name: "main", image: "nginx", ports: [port], env: [{ name: "A", value: "1" }] },
      { name: "side", image: "busybox", command: ["sleep", "1"] },
    ],
    tolerations: [{ key: "k", operator: "Exists" }],
    nodeSelector: { disk: "ssd" },
  },
};
const context = { apiVersion: "v1", kind: "Pod", schema, now: "2026-01-01T00:00:00Z", force: false };
const first = applyConfiguration({ ...context, manager: "one", live: undefined, applied: pod });
const live = frozen(withOwners(first.object, first.managedFields));
const document = frozen(pod);

const environment = admission(baseEnvironment(), { patches: true }).extend({
  variables: { s: string, n: int, l: list(int), a: list(string), m: map(string, dyn), self: dyn },
});
const variables = {
  s: "a,b;c 1.2.3 10.0.0.1/8 https://a.b/c?d=e",
  n: 7,
  l: Array.from({ length: 100 }, (_, i) => i),
  a: ["x", "y", "10.0.0.1", "1.5Gi"],
  m: { a: 1, b: [1, 2], c: { d: "e" } },
  self: pod,
  object: pod,
  oldObject: pod,
};
/** A tenth of what an expression may spend: a second of CPU in all would be ten times too much. */
const BUDGET = 100_000;

export const objectTargets: Targets = {
  cbor: {
    seeds: [
      ...hex("d9d9f7a24161f93e00416282011903e8", "bf61617f61616162ff6162d64401020304ff"),
      Buffer.from(encodeCbor(pod)),
    ],
    errors: [CborError],
    read: (bytes) => {
      const value = decodeCbor(bytes);
      ensure(equalJson(decodeCbor(encodeCbor(value)), value), "what was decoded is encoded to the same");
      return true;
    },
  },
  cel: {
    seeds: texts(
      "self.spec.containers.all(c, c.image.startsWith('nginx') || c.name in ['side']) && has(self.metadata.labels.app)",
      "l.filter(x, x % 2 == 0).map(x, x * n).sum() > 0 ? 'a' + s : string(l[0])",
      "s.split(',').map(p, p.trim().upperAscii()).join('-').matches('^[A-Z,;]+(b|c)*$')",
      "quantity('1.5Gi').add(quantity('100m')).isGreaterThan(quantity('1')) && isSemver('1.2.3')",
      "cidr('10.0.0.0/8').containsIP(ip('10.1.1.1')) && url('https://a.b/c?d=e').getHost() == 'a.b'",
      "timestamp('2026-01-01T00:00:00Z') + duration('1h30m') > timestamp(0) && b'a\\xff' != bytes('a')",
      "[dyn(1), dyn(2.5e3), dyn(3u), dyn(-0x1f), dyn(null)].size() == 5 && r'\\d' != '' && optional.of(1).orValue(2) == 1",
      "m.exists(k, v, k == 'a' && v == 1) && l.transformList(i, v, i + v).size() == 100 && sets.contains(a, ['x'])",
      "'%s %d %.2f %x'.format(['a', n, 1.5, 255]) + s.replace('a', 'b', 1).substring(0, 3)",
      "Object{spec: Object.spec{nodeName: s}}.spec.nodeName == s || JSONPatch{op: 'add', path: '/a', value: 1}.op == 'x'",
    ),
    errors: [],
    read: expression,
  },
  "json patch": {
    seeds: texts(
      '[{"op":"add","path":"/metadata/labels/x~1y","value":"z"},{"op":"remove","path":"/spec/containers/0/ports/-1"}]',
      '[{"op":"move","from":"/spec/containers/1","path":"/spec/containers/0"},{"op":"copy","from":"/metadata","path":"/a"}]',
      '[{"op":"test","path":"/kind","value":"Pod"},{"op":"replace","path":"/spec/nodeSelector","value":{"a":null}}]',
    ),
    errors: [JsonSyntaxError, StatusError, JsonPatchError],
    read: (bytes) => applyJsonPatch(document, decodeJsonPatch(jsonIn(bytes))),
  },
  "merge patch": {
    seeds: texts(
      '{"metadata":{"labels":{"app":null,"x":"y"}},"spec":{"containers":[{"name":"a","env":null}]}}',
      '{"spec":null,"a":{"b":[1,{"c":2}]}}',
    ),
    errors: [JsonSyntaxError],
    read: (bytes) => {
      const changed = applyMergePatch(document, jsonIn(bytes));
      if (!isObject(changed) || JSON.stringify(changed).includes("null")) return isObject(changed);
      const again = applyMergePatch(document, createMergePatch(document, changed));
      ensure(equalJson(again, changed), "the patch between two objects leads to another one");
      return true;
    },
  },
  "strategic merge patch": {
    seeds: texts(
      '{"spec":{"containers":[{"name":"main","image":"b","env":[{"name":"A","$patch":"delete"}]}],"nodeSelector":null}}',
      '{"spec":{"$setElementOrder/containers":[{"name":"side"},{"name":"main"}],"containers":[{"$patch":"replace"}]}}',
      '{"metadata":{"$deleteFromPrimitiveList/finalizers":["a/b"],"finalizers":["e/f"],"labels":{"$patch":"replace"}}}',
      '{"spec":{"$retainKeys":["containers"],"containers":[{"name":"new","ports":[{"containerPort":1}]}]}}',
    ),
    errors: [JsonSyntaxError, StatusError],
    read: (bytes) => {
      const patch = jsonIn(bytes);
      if (!isObject(patch)) return false;
      spentStrategicMergePatch(document, patch, schema);
      return applyStrategicMergePatch(document, frozen(patch), schema);
    },
  },
  apply: {
    seeds: texts(
      JSON.stringify(pod),
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"b":"c"},"finalizers":["e/f"]},"spec":{"containers":[{"name":"new","image":"i","ports":[{"containerPort":80,"protocol":"UDP"}]}]}}',
    ),
    errors: [JsonSyntaxError, StatusError],
    read: (bytes) => {
      const applied = jsonIn(bytes);
      if (!isObject(applied)) return false;
      const request = { ...context, manager: "two", force: true, applied: frozen(applied) };
      const { object, managedFields } = applyConfiguration({ ...request, live });
      const again = applyConfiguration({ ...request, live: withOwners(object, managedFields) });
      ensure(!again.changed, "the same configuration changes something when it is applied again");
      return true;
    },
    inputs: 1_000,
  },
  "managed fields": {
    seeds: texts(JSON.stringify(first.managedFields)),
    errors: [JsonSyntaxError],
    read: (bytes) => {
      const entries = jsonIn(bytes);
      if (!Array.isArray(entries) || !entries.every(isObject)) return false;
      try {
        return parseOwners(entries as unknown as ManagedFields);
      } catch (error) {
        // Its own errors are plain ones: their text is shown as a warning.
        if (error instanceof Error && error.constructor === Error) return false;
        throw error;
      }
    },
  },
};

function expression(bytes: Buffer): boolean {
  const compiled = environment.compile(bytes.toString());
  if (!compiled.ok) return false;
  const { min, max } = compiled.estimate();
  ensure(min <= max, "the least cost is above the greatest");
  const evaluated = compiled.program.evaluate(variables, { budget: BUDGET });
  if (!evaluated.ok) return evaluated.error !== "";
  ensure(evaluated.cost <= BUDGET, "costs more than its budget");
  toJson(evaluated.value);
  return true;
}

function jsonIn(bytes: Buffer): Json {
  return parseDocument(bytes.toString()).value;
}

function withOwners(object: JsonObject, managedFields: ManagedFields): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), managedFields: managedFields as never } };
}

/** Whoever writes to it throws. */
function frozen<T extends Json>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const each of Object.values(value)) frozen(each as Json);
  return Object.freeze(value);
}

function fail(): never {
  throw new Error("there are no Pods");
}
