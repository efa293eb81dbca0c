/**
 * Pods that come and go: `churn.ts KUBECONFIG NODE COUNT` keeps so many on a node, deletes each some time after it was
 * made, in whatever state it then is, and makes another. With SIGTERM it makes no more, deletes those that are left,
 * and says `made N` when all are gone.
 */
import { isStatusError, kinds } from "../../../src/api/index.ts";
import { realClock, systemRandom } from "../../../src/base/index.ts";
import { Client, https } from "../../../src/client/index.ts";
import { readKubeconfig } from "../../../src/pki/index.ts";

const [kubeconfig = "", nodeName = "node-1", count = "4"] = process.argv.slice(2);
const LONGEST_LIFE_MS = 6000;
const POLL_MS = 100;

const clock = realClock();
const random = systemRandom();
const { server, caPem, client: credentials } = await readKubeconfig(kubeconfig);
const client = new Client({ transport: https({ server, caPem, ...credentials }, { clock }), clock });
const pods = client.of(kinds.Pod).in("default");
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
let made = 0;

async function live(): Promise<void> {
  const name = `churn-${++made}`;
  // Some end by themselves, some have more than one container, some have volumes: what is cut short differs.
  const command = ["sh", "-c", made % 3 === 0 ? "sleep 1" : "trap 'exit 0' TERM; while true; do sleep 0.1; done"];
  const container = (own: string) => ({ name: own, image: "localhost/busybox:1", command });
  await pods.create({
    metadata: { name, labels: { app: "churn" } },
    spec: {
      nodeName,
      restartPolicy: made % 2 === 0 ? "Never" : "Always",
      terminationGracePeriodSeconds: made % 5,
      containers: made % 4 === 0 ? [container("a"), container("b")] : [container("a")],
      volumes: [{ name: "memory", emptyDir: { medium: "Memory" } }],
    },
  });
  await clock.sleep(random.next() * LONGEST_LIFE_MS, stop.signal).catch(() => {}); // no more time: it goes now
  await pods.delete(name);
  await isGone(name);
}

async function isGone(name: string): Promise<void> {
  for (;;) {
    try {
      await pods.get(name);
    } catch (error) {
      if (isStatusError(error) && error.reason === "NotFound") return;
      throw error;
    }
    await clock.sleep(POLL_MS);
  }
}

process.stdout.write("ready\n");
await Promise.all(
  Array.from({ length: Number(count) }, async () => {
    while (!stop.signal.aborted) await live();
  }),
);
process.stdout.write(`made ${made}\n`);
await client.close();
