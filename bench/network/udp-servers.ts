/** A thread with a bare UDP echo and a DNS server of 10,000 Services; says at which ports they are. */
import { createSocket } from "node:dgram";
import { parentPort } from "node:worker_threads";
import { MetricsRegistry, realClock, seededRandom, silentLogger } from "#base";
import { Forwarder } from "../../src/network/dns/forward.ts";
import { dnsMetrics } from "../../src/network/dns/metrics.ts";
import { serviceRecords } from "../../src/network/dns/records.ts";
import { Resolver } from "../../src/network/dns/resolver.ts";
import { startDnsServer } from "../../src/network/dns/server.ts";
import { Zone } from "../../src/network/dns/zone.ts";

const SERVICES = 10_000;
const [clock, random, log] = [realClock(), seededRandom(1), silentLogger];
const zone = new Zone({ zone: "cluster.local", serverAddresses: ["10.96.0.10"] });
zone.setNamespaces(["default"]);
for (let at = 0; at < SERVICES; at++) {
  const metadata = { name: `s${at}`, namespace: "default" };
  const clusterIP = `10.96.${at >> 8}.${at & 255}`;
  zone.set(`default/s${at}`, serviceRecords({ metadata, spec: { clusterIP } }, [], zone.name));
}
const forwarder = new Forwarder({ upstreams: [], clock, random, log });
const resolver = new Resolver({ zone, forwarder, random });
const metrics = dnsMetrics(new MetricsRegistry());
const server = await startDnsServer({ address: "127.0.0.1", port: 0, resolver, zone, metrics, clock, log });
const echo = createSocket("udp4");
echo.on("message", (message, from) => echo.send(message, from.port, from.address));
echo.bind(0, "127.0.0.1", () => parentPort?.postMessage({ dns: server.port, echo: echo.address().port }));
parentPort?.once("message", () => {
  echo.close();
  forwarder.close();
  void server.stop().then(() => parentPort?.close());
});
