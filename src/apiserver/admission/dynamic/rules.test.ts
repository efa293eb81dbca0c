import { describe, expect, it } from "vitest";
import { builtIn } from "#api";
import { silentLogger, VirtualClock } from "#base";
import { openMemoryStore } from "#store";
import { StoreFeed } from "../../cache/feed.ts";
import { STORE_PREFIX } from "../../rest/resource.ts";
import { Resources } from "../../rest/resources.ts";
import { choices, chosen } from "./rules.ts";
import { targetOf } from "./target.ts";

const clock = new VirtualClock();
const resources = new Resources(
  new StoreFeed({ store: openMemoryStore({ clock }), prefix: STORE_PREFIX, clock, log: silentLogger }),
);
for (const kind of builtIn) resources.add(kind);

function target(path: string) {
  const [group = "", version = "", plural = "", subresource = ""] = path.split("/");
  const resource = resources.find(group, version, plural);
  if (resource === undefined) throw new Error(path);
  return targetOf({ resource, subresource });
}

const rule = (apiGroups: string, apiVersions: string, names: string, more: object = {}) => ({
  apiGroups: apiGroups.split(","),
  apiVersions: apiVersions.split(","),
  resources: names.split(","),
  operations: ["*" as const],
  ...more,
});

describe("rules", () => {
  it.each<{ name: string; rules: object[]; policy?: string; about: string; want: string[] }>([
    {
      name: "the version that is asked for",
      rules: [rule("autoscaling", "v1,v2", "*")],
      about: "autoscaling/v1/horizontalpodautoscalers",
      want: ["v1"],
    },
    {
      name: "another version",
      rules: [rule("autoscaling", "v2", "*")],
      about: "autoscaling/v1/horizontalpodautoscalers",
      want: ["v2"],
    },
    {
      name: "of a subresource",
      rules: [rule("*", "v2", "*/status")],
      about: "autoscaling/v1/horizontalpodautoscalers/status",
      want: ["v2"],
    },
    { name: "another group", rules: [rule("events.k8s.io", "v1", "events")], about: "/v1/events", want: ["v1"] },
    {
      name: "not if it has to be exact",
      rules: [rule("autoscaling", "v2", "*")],
      policy: "Exact",
      about: "autoscaling/v1/horizontalpodautoscalers",
      want: [],
    },
    {
      name: "what is asked for before others",
      rules: [rule("*", "v2", "*"), rule("*", "v1", "*")],
      about: "autoscaling/v1/horizontalpodautoscalers",
      want: ["v1"],
    },
    {
      name: "others where names may not fit",
      rules: [rule("*", "v1", "*", { resourceNames: ["a"] }), rule("*", "v2", "*")],
      about: "autoscaling/v1/horizontalpodautoscalers",
      want: ["v1", "v2"],
    },
    { name: "no resource like it", rules: [rule("", "v1", "pod")], about: "/v1/pods", want: [] },
    { name: "nothing said", rules: [{}], about: "/v1/pods", want: [] },
  ])("$name", ({ rules, policy = "Equivalent", about, want }) => {
    const found = choices(rules as never, policy, target(about), "CREATE", resources);
    expect(found.map(({ target: { kind } }) => kind.version)).toEqual(want);
  });

  it("are chosen by the name of the object", () => {
    const found = choices(
      [rule("*", "v1", "*", { resourceNames: ["a"] }), rule("*", "v2", "*", { resourceNames: ["b"] })],
      "Equivalent",
      target("autoscaling/v1/horizontalpodautoscalers"),
      "CREATE",
      resources,
    );
    expect(["a", "b", "c"].map((name) => chosen(found, name)?.kind.version)).toEqual(["v1", "v2", undefined]);
  });

  it("know what is spoken at a subresource", () => {
    expect(target("apps/v1/deployments/scale").kind).toEqual({ group: "autoscaling", version: "v1", kind: "Scale" });
    expect(target("apps/v1/deployments/status").kind.kind).toBe("Deployment");
    expect(target("/v1/pods/eviction").kind).toEqual({ group: "policy", version: "v1", kind: "Eviction" });
  });
});
