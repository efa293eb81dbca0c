/** Cached responses are equal to fresh ones. */
import { encode } from "dns-packet";
import fc from "fast-check";
import { expect, it } from "vitest";
import { MetricsRegistry, realClock, seededRandom, silentLogger } from "#base";
import { Forwarder } from "./forward.ts";
import { dnsMetrics } from "./metrics.ts";
import { serviceRecords } from "./records.ts";
import { Resolver } from "./resolver.ts";
import { responder } from "./responder.ts";
import { Zone } from "./zone.ts";

const [clock, log] = [realClock(), silentLogger];

function freshResponder(zone: Zone) {
  const random = seededRandom(1);
  const resolver = new Resolver({ zone, forwarder: new Forwarder({ upstreams: [], clock, random, log }), random });
  return responder({ resolver, zone, metrics: dnsMetrics(new MetricsRegistry()), clock, log });
}

const questions = fc.record({
  id: fc.nat(0xffff),
  flags: fc.constantFrom(0, 256),
  name: fc.constantFrom("web", "WEB", "db", "gone").map((name) => `${name}.default.svc.cluster.local`),
  type: fc.constantFrom("A", "AAAA", "SRV", "TXT"),
  hasEdns: fc.boolean(),
  overTcp: fc.boolean(),
});

it("a responder with a cache answers like one without", () => {
  const zone = new Zone({ zone: "cluster.local", serverAddresses: ["10.96.0.10"] });
  zone.setNamespaces(["default"]);
  const put = (name: string, clusterIP: string) => {
    const metadata = { name, namespace: "default" };
    zone.set(`default/${name}`, serviceRecords({ metadata, spec: { clusterIP } }, [], zone.name));
  };
  put("web", "10.96.0.1");
  put("db", "10.96.0.2");
  const caching = freshResponder(zone);
  let last = 2;
  fc.assert(
    fc.property(questions, fc.boolean(), ({ id, flags, name, type, hasEdns, overTcp }, changes) => {
      last += changes ? 1 : 0;
      if (changes) put("db", `10.96.0.${last % 200}`);
      const opt = { type: "OPT", name: ".", udpPayloadSize: 1232, flags: 0, flag_do: false } as const;
      const additionals = hasEdns ? [{ ...opt, extendedRcode: 0, ednsVersion: 0, options: [] }] : [];
      const message = encode({ type: "query", id, flags, questions: [{ name, type }], additionals });
      expect(caching(message, overTcp)).toEqual(freshResponder(zone)(message, overTcp));
    }),
    { numRuns: 500 },
  );
});
