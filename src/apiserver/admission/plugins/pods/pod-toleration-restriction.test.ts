import { describe, expect, it } from "vitest";
import { admit, namespaceObject, podObject } from "../../testing/index.ts";
import { podTolerationRestriction } from "./pod-toleration-restriction.ts";
import { mergeTolerations } from "./tolerations.ts";

const tolerate = (key: string, more: object = {}) => ({
  key,
  operator: "Exists" as const,
  effect: "NoSchedule" as const,
  ...more,
});
const plugin = podTolerationRestriction({ default: [tolerate("all")], whitelist: [tolerate("all"), tolerate("a")] });
const annotated = (annotations: object) =>
  namespaceObject("a", {
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [
        `scheduler.alpha.kubernetes.io/${name}`,
        JSON.stringify(value),
      ]),
    ),
  });
const CONFLICT = (scope: string) =>
  `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`;

const rows = [
  { name: "the default of all", namespace: namespaceObject(), keys: ["all"] },
  { name: "what the Pod adds", namespace: namespaceObject(), own: [tolerate("a")], keys: ["all", "a"] },
  { name: "what nobody may", namespace: namespaceObject(), own: [tolerate("b")], why: CONFLICT("cluster") },
  {
    name: "the default of the namespace",
    namespace: annotated({ defaultTolerations: [tolerate("a")] }),
    keys: ["a"],
  },
  {
    name: "what the namespace may not",
    namespace: annotated({ defaultTolerations: [], tolerationsWhitelist: [tolerate("b")] }),
    own: [tolerate("a")],
    why: CONFLICT("namespace"),
  },
  {
    name: "what the namespace may",
    namespace: annotated({ defaultTolerations: [], tolerationsWhitelist: [tolerate("b")] }),
    own: [tolerate("b")],
    keys: ["b"],
  },
];

describe("PodTolerationRestriction", () => {
  it.each(rows)("$name", async ({ namespace, own, keys, why = "" }) => {
    const outcome = await admit(plugin, { object: podObject(own && { tolerations: own }), cluster: [namespace] });
    expect(outcome.why).toBe(why);
    const { tolerations = [] } = outcome.object.spec as { tolerations?: { key: string }[] };
    if (why === "") expect(tolerations.map(({ key }) => key)).toEqual(keys);
    else expect(outcome.error?.code).toBe(500);
  });

  it("lets Pods that ask for something stay where memory is short", async () => {
    const object = podObject({ containers: [{ name: "c", image: "x", resources: { requests: { cpu: "1" } } }] });
    const admitted = (await admit(podTolerationRestriction(undefined), { object, cluster: [namespaceObject()] }))
      .object;
    expect(admitted).toMatchObject({ spec: { tolerations: [{ key: "node.kubernetes.io/memory-pressure" }] } });
  });

  it("refuses a configuration that is none", () => {
    expect(() => podTolerationRestriction({ default: "x" })).toThrow("default has to be a list of tolerations");
  });
});

describe("mergeTolerations", () => {
  const all = { operator: "Exists" as const };
  const seconds = (tolerationSeconds: number) => tolerate("a", { effect: "NoExecute", tolerationSeconds });
  const rows = [
    { name: "equal ones once", first: [tolerate("a")], second: [tolerate("a")], merged: [tolerate("a")] },
    { name: "none that another covers", first: [tolerate("a")], second: [all], merged: [all] },
    { name: "none that an earlier one covers", first: [all], second: [tolerate("a")], merged: [all] },
    { name: "the longer time", first: [seconds(10)], second: [seconds(20)], merged: [seconds(20)] },
    {
      name: "values of their own",
      first: [{ key: "a", value: "1" }],
      second: [{ key: "a", value: "2" }],
      merged: [
        { key: "a", value: "1" },
        { key: "a", value: "2" },
      ],
    },
  ];
  it.each(rows)("keeps $name", ({ first, second, merged }) => {
    expect(mergeTolerations(first, second)).toEqual(merged);
  });
});
