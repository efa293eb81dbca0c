/**
 * What happens to Pods, as a client sees it: `first-answer-watcher.ts KUBECONFIG ASKS` prints `WHAT NAME MS` by the wall
 * clock for what comes first: created, scheduled, started, ready, endpoint. A line `NAME URL` in the file ASKS makes it
 * ask the URL until it answers: `answered NAME MS`.
 */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { type core, type discovery, kinds } from "../../src/api/index.ts";
import { realClock, silentLogger, systemRandom } from "../../src/base/index.ts";
import { Client, https, Informer } from "../../src/client/index.ts";
import { readKubeconfig } from "../../src/pki/index.ts";

const ASK_MS = 3;
const clock = realClock();
const { server, caPem, client: credentials } = await readKubeconfig(process.argv[2] ?? "");
const client = new Client({ transport: https({ server, caPem, ...credentials }, { clock }), clock });
const own = { clock, random: systemRandom(), log: silentLogger };
const pods = new Informer<core.Pod>({ client: client.of(kinds.Pod), ...own });
const slices = new Informer<discovery.EndpointSlice>({ client: client.of(kinds.EndpointSlice), ...own });
const told = new Set<string>();
const tell = (what: string, name: string) => {
  const line = `${what} ${name}`;
  if (told.has(line)) return;
  told.add(line);
  process.stdout.write(`${line} ${clock.now()}\n`);
};
pods.onChange(({ type, object: { metadata, spec, status } }) => {
  const { name = "" } = metadata;
  if (type === "deleted") return;
  tell("created", name);
  if (spec?.nodeName) tell("scheduled", name);
  if (status?.containerStatuses?.some(({ state }) => state?.running !== undefined)) tell("started", name);
  if (status?.conditions?.some((each) => each.type === "Ready" && each.status === "True")) tell("ready", name);
});
slices.onChange(({ object }) => {
  for (const { targetRef, conditions } of object.endpoints ?? [])
    if (conditions?.ready === true && targetRef?.name !== undefined) tell("endpoint", targetRef.name);
});
const asked = new Set<string>();
const read = () => {
  for (const line of readFileSync(process.argv[3] ?? "", "utf8")
    .split("\n")
    .slice(0, -1)) {
    if (!asked.has(line)) askUntil(line);
    asked.add(line);
  }
};
const reading = setInterval(read, ASK_MS);
function askUntil(line: string): void {
  const [name = "", url = ""] = line.split(" ");
  const again = () => void clock.timer(ASK_MS, ask);
  const ask = () => {
    const call = request(url, { agent: false, timeout: 200 }, (response) => {
      response.resume();
      if (response.statusCode === 200) tell("answered", name);
      else again();
    });
    call.once("timeout", () => call.destroy(new Error("no answer")));
    call.once("error", again);
    call.end();
  };
  ask();
}
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
void Promise.all([pods.synced, slices.synced]).then(() => process.stdout.write("watching\n"));
await Promise.all([pods.run(stop.signal), slices.run(stop.signal)]).catch((error: unknown) => {
  if (!stop.signal.aborted) throw error;
});
clearInterval(reading);
await client.close();
process.exit(0);
