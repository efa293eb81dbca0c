import { describe, expect, it } from "vitest";
import { at } from "../../../machinery/errors/field-error.ts";
import type { PodSpec, Volume } from "../../../types/core-v1.ts";
import { podTemplateWarnings } from "./warnings.ts";

const files = (...paths: readonly string[]) => paths.map((path) => ({ key: "k", path }));
const warningsOf = (spec: Partial<PodSpec>) =>
  podTemplateWarnings({ spec: { containers: [], ...spec } }, at("spec", "template"));

describe("warnings about volumes", () => {
  it.each<{ name: string; volume: Omit<Volume, "name">; want: readonly string[] }>([
    {
      name: "a folder and a file of the same path",
      volume: { configMap: { name: "c", items: files("a", "ab", "a/b/") } },
      want: ['volume "v" (ConfigMap "c"): overlapping paths: "a/b" with "a"'],
    },
    {
      name: "the same file of a secret",
      volume: { secret: { secretName: "s", items: files("a", "a") } },
      want: ['volume "v" (Secret "s"): overlapping paths: "a" with "a"'],
    },
    {
      name: "files of several sources",
      volume: {
        projected: {
          sources: [{ serviceAccountToken: { path: "t" } }, { configMap: { name: "c", items: files("t/x") } }],
        },
      },
      want: ['volume "v" (Projected): overlapping paths: "t/x" (ConfigMap "c") with "t" (ServiceAccountToken)'],
    },
    {
      name: "a source without a type",
      volume: { projected: { sources: [{}, {}] } },
      want: ['volume "v" (Projected) has no sources provided'],
    },
    { name: "no sources at all", volume: { projected: {} }, want: [] },
    {
      name: "gitRepo",
      volume: { gitRepo: { repository: "r" } },
      want: ["spec.template.spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
    },
  ])("$name", ({ volume, want }) => expect(warningsOf({ volumes: [{ name: "v", ...volume }] })).toEqual(want));
});

it("warns about a negative grace period", () => {
  expect(warningsOf({ terminationGracePeriodSeconds: -1 })).toEqual([
    "spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
  ]);
});

it("warns about port names that two containers have", () => {
  const port = (containerPort: number) => ({ name: "http", containerPort, protocol: "TCP" as const });
  const [first, second] = ["spec.template.spec.containers[0].ports[0]", "spec.template.spec.containers[1].ports[0]"];
  expect(
    warningsOf({
      containers: [
        { name: "a", ports: [port(80)] },
        { name: "b", ports: [port(81)] },
      ],
    }),
  ).toEqual([
    `${second}: duplicate port name "http" with ${first}, services and probes that select ports by name will use ${first}`,
  ]);
});
