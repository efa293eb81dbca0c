import { expect, it } from "vitest";
import { admit, podObject } from "../../testing/index.ts";
import { extendedResourceToleration as plugin } from "./extended-resource-toleration.ts";

const asking = (requests: object, tolerations?: object[]) =>
  podObject({ containers: [{ name: "c", image: "x", resources: { requests } }], ...(tolerations && { tolerations }) });
const tolerates = (key: string) => ({ key, operator: "Exists", effect: "NoSchedule" });

it.each([
  { name: "nothing special", object: asking({ cpu: "1" }), tolerations: undefined },
  {
    name: "hardware of two sorts",
    object: asking({ "example.com/gpu": "1", "example.com/fpga": "1", memory: "1" }),
    tolerations: [tolerates("example.com/fpga"), tolerates("example.com/gpu")],
  },
  {
    name: "what is tolerated already",
    object: asking({ "example.com/gpu": "1" }, [tolerates("example.com/gpu")]),
    tolerations: [tolerates("example.com/gpu")],
  },
])("$name", async ({ object, tolerations }) => {
  const { spec } = (await admit(plugin, { object })).object as { spec?: { tolerations?: object[] } };
  expect(spec?.tolerations).toEqual(tolerations);
});
