/** Says when Pods run: `watcher.ts KUBECONFIG` prints `running NAME MS` for each, by the wall clock, until SIGTERM. */
import { type core, kinds } from "../../src/api/index.ts";
import { realClock, silentLogger, systemRandom } from "../../src/base/index.ts";
import { Client, https, Informer } from "../../src/client/index.ts";
import { readKubeconfig } from "../../src/pki/index.ts";

const clock = realClock();
const { server, caPem, client: credentials } = await readKubeconfig(process.argv[2] ?? "");
const client = new Client({ transport: https({ server, caPem, ...credentials }, { clock }), clock });
const pods = new Informer<core.Pod>({
  client: client.of(kinds.Pod),
  clock,
  random: systemRandom(),
  log: silentLogger,
});
const told = new Set<string>();
pods.onChange(({ object: { metadata, status } }) => {
  const { name = "", uid = "" } = metadata;
  if (status?.phase !== "Running" || told.has(uid)) return;
  told.add(uid);
  process.stdout.write(`running ${name} ${clock.now()}\n`);
});
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
void pods.synced.then(() => process.stdout.write("ready\n"));
await pods.run(stop.signal).catch((error: unknown) => {
  if (!stop.signal.aborted) throw error;
});
await client.close();
