/**
 * What a tenant sees of another one: nothing. Tenant B's objects hold 500 unguessable words; tenant A asks the server
 * for everything, and no answer contains one of them, unless the request did.
 *
 * 1. The same crawl as an administrator finds the words: a search that finds nothing proves nothing.
 * 2. An answer about an object of B is the same whether the object exists or not.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Canaries, randomWord } from "./canaries.ts";
import type { Answer, Ask, Client } from "./client.ts";
import { startTestCluster, type TestCluster } from "./cluster.ts";
import { type Crawl, discover, each, inParallel, probes, questions, type Route, reads } from "./crawl.ts";
import { CANARIES, OWN, plant, SHARED, type Tenants, VOLUME } from "./plant.ts";

let cluster: TestCluster;
let tenants: Tenants;
let routes: readonly Route[];
const canaries = new Canaries();

beforeAll(async () => {
  cluster = await startTestCluster(2);
  tenants = await plant(cluster, canaries);
  routes = await discover(tenants.a);
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

function crawl(): Crawl {
  const { theirs, before, continueToken, podUids } = tenants;
  return { routes, namespaces: [OWN, SHARED, theirs], moments: [before], continueToken, podUids };
}

/** What an answer contains of the words that were not in its request. */
function leaks(ask: Ask, answer: Answer): string[] {
  const asked = canaries.in(decodeURIComponent(`${ask.path} ${JSON.stringify(ask.body ?? "")}`));
  return [...canaries.in(answer.text)].filter((word) => !asked.has(word));
}

async function leaksOf(client: Client, asks: Iterable<Ask>): Promise<string[]> {
  const found = new Set<string>();
  await each(asks, async (ask) => {
    const answer = await client.ask(ask);
    for (const word of leaks(ask, answer))
      found.add(`${ask.method ?? "GET"} ${ask.path} (${answer.status}): ${canaries.all.get(word)}`);
  });
  return [...found];
}

describe("a restricted user", () => {
  it("is worth the search: an administrator's crawl finds every word", async () => {
    expect(canaries.size).toBe(CANARIES);
    const found = new Set<string>();
    const count = await each(reads(crawl()), async (ask) => {
      if (ask.path.startsWith("/k8ts/snapshot")) return;
      for (const word of canaries.in((await cluster.admin.ask(ask)).text)) found.add(word);
    });
    expect(count).toBeGreaterThan(1000);
    const missed = [...canaries.all].flatMap(([word, place]) => (found.has(word) ? [] : [place]));
    expect(missed).toEqual([]);
  });

  it("reads nothing of another tenant, in any form, from any path", async () => {
    expect(await leaksOf(tenants.a, reads(crawl()))).toEqual([]);
  });

  it("learns nothing from reviews, other identities, names that are taken, and live flows", async () => {
    expect(await leaksOf(tenants.a, probes(OWN, tenants.theirs, VOLUME))).toEqual([]);
  });

  it("who owned a namespace is nobody in the next one of its name", async () => {
    const statuses = new Set<number>();
    for (const path of ["configmaps", "secrets", `configmaps?resourceVersion=${tenants.before}`])
      statuses.add((await tenants.old.ask({ path: `/api/v1/namespaces/${SHARED}/${path}` })).status);
    expect([...statuses]).toEqual([401]);
  });

  it("learns nothing from answers about objects whose names it knows, not even whether they exist", async () => {
    const { a, theirs } = tenants;
    const differences: string[] = [];
    for (const route of routes) {
      if (!route.isNamespaced || !route.verbs.includes("list")) continue;
      const path = `${route.api}/namespaces/${theirs}/${route.plural}?limit=1`;
      const { items } = await cluster.admin.ok<{ items: { metadata: { name: string } }[] }>("GET", path);
      const known = items[0]?.metadata.name ?? randomWord();
      // Of the same length, which protobuf tells.
      const absent = randomWord().repeat(4).slice(0, known.length);
      const nowhere = randomWord();
      const asks = [...questions(route, theirs, known)];
      const others = [...questions(route, theirs, absent)];
      const elsewhere = [...questions(route, nowhere, absent)];
      await inParallel(asks.keys(), 8, async (i) => {
        const [one, two, three] = [asks[i], others[i], elsewhere[i]];
        if (one === undefined || two === undefined || three === undefined) return;
        const real = await a.ask(one);
        const what = `${one.method ?? "GET"} ${one.path}`;
        if (leaks(one, real).length > 0) differences.push(`${what} leaks`);
        const said = normal(real, known, theirs);
        if (said !== normal(await a.ask(two), absent, theirs)) differences.push(`${what} tells that it exists`);
        if (said !== normal(await a.ask(three), absent, nowhere))
          differences.push(`${what} tells that the namespace does`);
      });
    }
    expect(differences).toEqual([]);
  });
});

function normal({ status, body, text: whole }: Answer, name: string, namespace: string): string {
  const warnings = /^warning\n.*$/im.exec(whole)?.[0] ?? "";
  const text = `${warnings}${body}`.replaceAll(name, "NAME").replaceAll(namespace, "NAMESPACE");
  return `${status} ${text.replace(/"dropped":\d+/, "")}`;
}
