import { expect, it } from "vitest";
import { admit, podObject } from "../../testing/index.ts";
import { limitPodHardAntiAffinityTopology as plugin } from "./limit-pod-hard-anti-affinity-topology.ts";

const away = (topologyKey: string) =>
  podObject({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } } });

it.each([
  { object: podObject(), why: "" },
  { object: away("kubernetes.io/hostname"), why: "" },
  {
    object: away("zone"),
    why: "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed",
  },
])("$why", async ({ object, why }) => {
  expect(await admit(plugin, { object })).toMatchObject({ why });
});
