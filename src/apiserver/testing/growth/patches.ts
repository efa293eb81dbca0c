/** Inputs of patches and of apply. */
import { configMap } from "../objects.ts";
import { CONFIG_MAPS, DRY_RUN, type Input, keyed, PODS, pod, scattered, times, WIDGETS, widget } from "./input.ts";

const TYPES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

const patched = (
  name: string,
  kind: keyof typeof TYPES,
  path: string,
  size: number,
  before: (size: number, name: string) => object,
  body: (size: number) => object,
  status = 200,
): Input => {
  const target = (grown: number) => `${kind}-${name.replaceAll(/[^a-z]+/g, "-")}-${grown}`;
  return {
    name: `${kind} patch: ${name}`,
    size,
    // A JSON patch has at most 10,000 operations.
    ...(kind === "json" && { most: 1000 }),
    method: "PATCH",
    path: (grown) => `${path}/${target(grown)}${DRY_RUN}`,
    type: TYPES[kind],
    before: (grown) => [{ path, body: before(grown, target(grown)) }],
    body,
    status,
  };
};

/** `applied`: what was applied before by the same manager, and what is applied now. */
const applied = (
  name: string,
  path: string,
  size: number,
  object: (size: number, name: string, changed: boolean) => object,
  status = 200,
): Input => {
  const target = (grown: number) => `apply-${name.replaceAll(/[^a-z]+/g, "-")}-${grown}`;
  return {
    name: `apply: ${name}`,
    size,
    method: "PATCH",
    path: (grown) => `${path}/${target(grown)}${DRY_RUN}&fieldManager=one`,
    type: "application/apply-patch+yaml",
    before: (grown) => [{ path, body: object(grown, target(grown), false) }],
    body: (grown) => object(grown, target(grown), true),
    status,
  };
};

const keys = (size: number) => times(size, (at) => `k${scattered(at)}`);
const finalizers = (size: number) => keys(size).map((key) => `example.com/${key}`);
const list = (size: number, value: string) => times(size, (at) => ({ name: `i${scattered(at)}`, value }));
const env = (size: number, value: string) => times(size, (at) => ({ name: `E${scattered(at)}`, value }));

export const patches: readonly Input[] = [
  patched(
    "adds",
    "json",
    CONFIG_MAPS,
    100,
    (_, name) => configMap(name, { a: "b" }),
    (size) => times(size, (at) => ({ op: "add", path: `/data/k${at}`, value: "v" })),
  ),
  patched(
    "inserts at the head of a list",
    "json",
    WIDGETS,
    100,
    (_, name) => widget(name, { atomic: [1] }),
    (size) => times(size, (at) => ({ op: "add", path: "/spec/atomic/0", value: at })),
  ),
  patched(
    "removes from the head of a list",
    "json",
    WIDGETS,
    100,
    (size, name) => widget(name, { atomic: times(size + 1, scattered) }),
    (size) => times(size, () => ({ op: "remove", path: "/spec/atomic/0" })),
  ),
  patched(
    "tests",
    "json",
    CONFIG_MAPS,
    100,
    (size, name) =>
      configMap(
        name,
        keyed(size, () => "v"),
      ),
    (size) => keys(size).map((key) => ({ op: "test", path: `/data/${key}`, value: "v" })),
  ),
  patched(
    "more operations than allowed",
    "json",
    CONFIG_MAPS,
    10_001,
    (_, name) => configMap(name),
    (size) => times(size, (at) => ({ op: "add", path: `/data/k${at}`, value: "v" })),
    413,
  ),
  patched(
    "keys",
    "merge",
    CONFIG_MAPS,
    500,
    (size, name) =>
      configMap(
        name,
        keyed(size, () => "v"),
      ),
    (size) => ({ data: keyed(size, () => "w") }),
  ),
  patched(
    "removed keys",
    "merge",
    CONFIG_MAPS,
    500,
    (size, name) =>
      configMap(
        name,
        keyed(size, () => "v"),
      ),
    (size) => ({ data: keyed(size, () => null) }),
  ),
  patched(
    "a list by key",
    "strategic",
    PODS,
    200,
    (size, name) => pod(name, {}, { env: env(size, "v") }),
    (size) => ({
      spec: { containers: [{ name: "main", env: env(size, "w").reverse() }] },
    }),
    422,
  ),
  patched(
    "deletes from a list by key",
    "strategic",
    PODS,
    200,
    (size, name) => pod(name, {}, { env: env(size, "v") }),
    (size) => ({
      spec: { containers: [{ name: "main", env: env(size, "v").map(({ name }) => ({ $patch: "delete", name })) }] },
    }),
    422,
  ),
  patched(
    "an order of a list",
    "strategic",
    PODS,
    200,
    (size, name) => pod(name, {}, { env: env(size, "v") }),
    (size) => ({
      spec: {
        containers: [
          {
            name: "main",
            "$setElementOrder/env": env(size, "v")
              .map(({ name }) => ({ name }))
              .reverse(),
          },
        ],
      },
    }),
    422,
  ),
  patched(
    "values of a list",
    "strategic",
    CONFIG_MAPS,
    300,
    (size, name) => configMap(name, {}, { finalizers: finalizers(size) }),
    (size) => ({
      metadata: { finalizers: finalizers(size).map((name) => `x.${name}`) },
    }),
  ),
  patched(
    "values deleted from a list",
    "strategic",
    CONFIG_MAPS,
    300,
    (size, name) => configMap(name, {}, { finalizers: finalizers(size) }),
    (size) => ({
      metadata: { "$deleteFromPrimitiveList/finalizers": finalizers(size) },
    }),
  ),
  patched(
    "retained keys",
    "strategic",
    "/apis/apps/v1/namespaces/default/deployments",
    300,
    (_, name) => deployment(name),
    (size) => ({
      spec: { strategy: { $retainKeys: ["type", ...keys(size)], type: "Recreate" } },
    }),
  ),
  patched(
    "a keyed list",
    "merge",
    WIDGETS,
    300,
    (size, name) => widget(name, { list: list(size, "v") }),
    (size) => ({ spec: { list: list(size, "w").reverse() } }),
  ),
  applied(
    "a map",
    CONFIG_MAPS,
    500,
    (size, name, changed) =>
      configMap(
        name,
        keyed(size, () => (changed ? "w" : "v")),
      ),
    409,
  ),
  applied("finalizers", CONFIG_MAPS, 300, (size, name, changed) =>
    configMap(name, {}, { finalizers: changed ? finalizers(size).reverse() : finalizers(size).slice(1) }),
  ),
  applied(
    "a keyed list",
    WIDGETS,
    300,
    (size, name, changed) => widget(name, { list: list(size, changed ? "w" : "v") }),
    409,
  ),
  applied("a set", WIDGETS, 300, (size, name, changed) =>
    widget(name, { set: changed ? keys(size).reverse() : keys(size).slice(1) }),
  ),
  applied(
    "an atomic list",
    WIDGETS,
    3000,
    (size, name, changed) => widget(name, { atomic: times(size, (at) => (changed ? at : at + 1)) }),
    409,
  ),
  applied(
    "maps of maps",
    WIDGETS,
    300,
    (size, name, changed) => widget(name, { maps: keyed(size, (at) => ({ a: changed ? "x" : `${at}` })) }),
    409,
  ),
  applied("keys without a schema", WIDGETS, 500, (size, name, changed) =>
    widget(name, { free: keyed(changed ? size : 1, () => 1) }),
  ),
  applied("scheduling gates", PODS, 300, (size, name) =>
    pod(name, { schedulingGates: keys(size).map((key) => ({ name: key })) }),
  ),
  applied("env", PODS, 200, (size, name) => pod(name, {}, { env: env(size, "v") })),
  applied(
    "equal items of a keyed list",
    WIDGETS,
    300,
    (size, name, changed) => widget(name, { list: changed ? times(size, () => ({ name: "a" })) : [] }),
    500,
  ),
];

function deployment(name: string): object {
  const labels = { app: "a" };
  return {
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "registry.example/app:1" }] } },
    },
  };
}
