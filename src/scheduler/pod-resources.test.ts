import { expect, it } from "vitest";
import { podResourcesText } from "./pod-resources.ts";
import { pod } from "./testing/index.ts";

it("shows what pods ask for and may use, until they end", () => {
  const resources = {
    requests: { cpu: "1100m", memory: "1Gi", "example.com/gpu": "2" },
    limits: { memory: "2Gi", "hugepages-2Mi": "4Mi" },
  };
  const containers = [{ name: "c", image: "web:1", resources }];
  const web = pod("web", { on: "n1", spec: { containers, priority: 7 } });
  const waiting = pod("waiting", { requests: { cpu: "250m" } });
  const done = pod("done", { on: "n1", requests: { cpu: "1" }, status: { phase: "Succeeded" } });
  const lines = podResourcesText([web, waiting, done])
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  const of = (node: string, priority: string, resource: string, unit: string) =>
    `node="${node}",scheduler="default-scheduler",priority="${priority}",resource="${resource}",unit="${unit}"}`;
  const at = 'namespace="default",pod=';
  expect(lines).toEqual([
    `kube_pod_resource_request{${at}"web",${of("n1", "7", "cpu", "cores")} 1.1`,
    `kube_pod_resource_request{${at}"web",${of("n1", "7", "memory", "bytes")} 1073741824`,
    `kube_pod_resource_request{${at}"web",${of("n1", "7", "example.com/gpu", "integer")} 2`,
    `kube_pod_resource_request{${at}"waiting",${of("", "", "cpu", "cores")} 0.25`,
    `kube_pod_resource_limit{${at}"web",${of("n1", "7", "memory", "bytes")} 2147483648`,
    `kube_pod_resource_limit{${at}"web",${of("n1", "7", "hugepages-2Mi", "bytes")} 4194304`,
  ]);
});
