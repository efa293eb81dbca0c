import { expect, it } from "vitest";
import { VirtualClock } from "#base";
import type { Transport } from "../transport/transport.ts";
import { Client } from "./client.ts";
import { repeatedDiscovery } from "./discovery.ts";

const document = (...plurals: string[]) => ({
  items: [
    {
      metadata: { name: "example.com" },
      versions: ["v2", "v1"].map((version) => ({
        version,
        resources: plurals.map((resource) => ({
          resource,
          responseKind: { kind: resource },
          scope: "Namespaced",
          verbs: ["list"],
        })),
      })),
    },
  ],
});

it("reads a document again only if it has changed", async () => {
  let groups: object = document("widgets");
  const transport: Transport = {
    send: async ({ target }) => {
      const body = async function* () {
        yield Buffer.from(JSON.stringify(target === "/api" ? { items: [] } : groups));
      };
      return { status: 200, headers: {}, body: body() };
    },
    close: async () => {},
  };
  const discover = repeatedDiscovery(new Client({ transport, clock: new VirtualClock(), userAgent: "test" }));
  const first = await discover();
  expect(first.resources.map(({ apiVersion, plural }) => `${apiVersion} ${plural}`)).toEqual([
    "example.com/v2 widgets",
  ]);
  expect(await discover()).toBe(first);
  groups = document("widgets", "gadgets");
  const second = await discover();
  expect(second.resources.map(({ plural }) => plural)).toEqual(["widgets", "gadgets"]);
});
