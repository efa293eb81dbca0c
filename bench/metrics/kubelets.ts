/**
 * A process that answers GET /metrics/resource over TLS for many nodes: each has an address of its own on loopback, and
 * counters that rise with time.
 */
import { once } from "node:events";
import { createServer } from "node:https";
import { realClock } from "#base";
import { createAuthority } from "#pki";
import { exposition } from "../../src/kubelet/server/stats/exposition.ts";
import { resourceMetrics } from "../../src/kubelet/server/stats/resource-metrics.ts";
import { type Asked, addressOf, podName } from "./fleet.ts";

function page(node: number, podsEach: number, atMs: number): string {
  const cpuNanoSeconds = atMs * 1e5;
  const usage = { cpuNanoSeconds, memoryWorkingSetBytes: 50_000_000 };
  const stats = { timestampMs: atMs, cpuCoreNanoSeconds: cpuNanoSeconds, memoryWorkingSetBytes: 50_000_000 };
  const containers = [{ name: "main", usage, container: { createdAtMs: 1 }, stats }];
  const pods = Array.from({ length: podsEach }, (_, pod) => ({
    pod: { metadata: { name: podName(node, pod), namespace: "default" } },
    usage,
    containers,
  }));
  return exposition(resourceMetrics({ atMs, usage, pods }));
}

process.once("message", async ({ nodes, podsEach, port }: Asked) => {
  const clock = realClock();
  const authority = await createAuthority({ commonName: "kubelets", clock });
  const addresses = Array.from({ length: nodes }, (_, node) => addressOf(node));
  const { certPem, keyPem } = await authority.issue({
    commonName: "kubelet",
    usages: ["server"],
    ipAddresses: ["127.0.0.1"],
  });
  for (const [node, address] of addresses.entries()) {
    const server = createServer({ cert: certPem, key: keyPem }, (_, response) =>
      response.end(page(node, podsEach, clock.now())),
    );
    server.keepAliveTimeout = 0;
    server.listen(port, address);
    await once(server, "listening");
  }
  process.send?.("listening");
});
