/**
 * The part of a cluster that keeps nodes, as a process: `node-driver.ts DATA_DIR`. Kubelets are processes that do
 * nothing; node-N has the Pods' range 10.244.N.0/24. Says `ready` when it has begun; ends with SIGTERM, and leaves
 * nodes running.
 */
import { createLogger, realClock, systemRandom } from "../../../src/base/index.ts";
import { RealNodes } from "../../../src/cluster/nodes/index.ts";
import { createAuthority } from "../../../src/pki/index.ts";

const [dataDir = "", version = "1"] = process.argv.slice(2);
const clock = realClock();
const log = createLogger({ clock, format: "json", level: "info", write: (line) => void process.stderr.write(line) });
const nodes = await RealNodes.open({ dataDir, outside: false, clock, random: systemRandom(), log });
for (let number = 1; number <= 9; number++) nodes.learnPodCidrs(`node-${number}`, [`10.244.${number}.0/24`]);

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
const authority = await createAuthority({ commonName: "test", clock });
const kubelet = {
  command: ["/bin/sh", "-c", "exec sleep 1000", "idle"],
  serverUrl: `https://${nodes.network.machineIp}:6443`,
  // The same authority with each start: a new one would mean new kubelets.
  authority: { certPem: "the same", issue: authority.issue },
  version,
};
process.stdout.write(`ready ${nodes.network.machineIp}\n`);
await nodes.run(kubelet, stop.signal);
