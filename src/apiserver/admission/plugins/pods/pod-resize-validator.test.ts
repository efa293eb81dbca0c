import { expect, it } from "vitest";
import { admit, podObject } from "../../testing/index.ts";
import { podResizeValidator as plugin } from "./pod-resize-validator.ts";

const pod = (requests: object, nodeName = "n", generation = 2) =>
  podObject({ nodeName, containers: [{ name: "c", image: "x", resources: { requests } }] }, { generation });
const node = (name: string, os: string) => ({
  kind: "Node",
  apiVersion: "v1",
  metadata: { name, labels: { "kubernetes.io/os": os } },
  status: { allocatable: { cpu: "2", memory: "1Gi" } },
});
const cluster = [node("n", "linux"), node("w", "windows")];

it.each([
  { name: "what the node has", object: pod({ cpu: "2" }), why: "" },
  {
    name: "more than the node has",
    object: pod({ cpu: "3", memory: "2Gi" }),
    why: "Node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824",
    cause: "NodeCapacity",
  },
  { name: "more, without a node", object: pod({ cpu: "3" }, ""), why: "" },
  { name: "what is as before", object: pod({ cpu: "3" }, "n", 1), why: "" },
  { name: "a node that is not there", object: pod({ cpu: "1" }, "m"), why: 'node "m" not found' },
  {
    name: "another system",
    object: pod({ cpu: "1" }, "w"),
    why: 'pod resize is only supported on linux nodes, node "w" is "windows"',
    cause: "UnsupportedPlatform",
  },
])("$name", async ({ object, why, cause }) => {
  const outcome = await admit(plugin, { resource: "pods/resize", object, old: pod({}, "n", 1), cluster });
  expect(outcome.why).toBe(why);
  if (cause !== undefined) expect(outcome.error?.details?.causes).toEqual([{ reason: cause }]);
});
