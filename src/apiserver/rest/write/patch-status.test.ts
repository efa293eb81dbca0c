/** A patch that is about the status alone takes a shorter way: what comes of it must be the same. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type TestServer, testServer } from "../../testing/index.ts";

const PODS = "/api/v1/namespaces/default/pods";
const STRATEGIC = { "content-type": "application/strategic-merge-patch+json" };

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});
afterEach(() => server.close());

const condition = (type: string, message = "") => ({
  type,
  status: "True",
  reason: "Because",
  message,
  lastProbeTime: null,
  lastTransitionTime: "2030-01-01T00:00:00Z",
});

const pod = (name: string) => ({
  metadata: { name, labels: { app: "a" }, annotations: { note: "n" } },
  spec: { containers: [{ name: "c", image: "i", resources: { limits: { cpu: "1" } } }], serviceAccountName: "own" },
});

describe("a strategic patch of a status", () => {
  it.each([
    { name: "a condition", patches: [{ status: { conditions: [condition("Ready")] } }] },
    {
      name: "a condition that is there, and another",
      patches: [
        { status: { conditions: [condition("Ready")] } },
        { status: { conditions: [condition("Ready", "again"), condition("PodScheduled")] } },
      ],
    },
    {
      name: "a field that comes and goes",
      patches: [{ status: { nominatedNodeName: "n" } }, { status: { nominatedNodeName: null } }],
    },
    { name: "an address, of which there is a list, too", patches: [{ status: { podIP: "10.0.0.1" } }] },
    { name: "labels along with it", patches: [{ metadata: { labels: { b: "2", app: null } }, status: {} }] },
    { name: "nothing at all", patches: [{}] },
    { name: "a fault", patches: [{ status: { conditions: [condition("no good name")] } }] },
    { name: "a field that is not known", patches: [{ status: { bogus: 1 } }] },
    { name: "another type than is asked for", patches: [{ status: { conditions: "all" } }] },
  ])("$name: as if it spoke of the spec, too", async ({ patches }) => {
    for (const name of ["short", "long"]) await server.request("POST", PODS, { body: pod(name) });
    await server.clock.advance(5_000);
    for (const patch of patches) {
      const [short, long] = await Promise.all([
        server.request("PATCH", `${PODS}/short/status`, { body: patch, headers: STRATEGIC }),
        server.request("PATCH", `${PODS}/long/status`, { body: { ...patch, spec: {} }, headers: STRATEGIC }),
      ]);
      expect(short.status).toBe(long.status);
      expect(comparable(short.text)).toEqual(comparable(long.text));
    }
  });
});

/** Without what two objects cannot have in common; in the order of its fields. */
function comparable(text: string): string {
  return text
    .replaceAll(/"(short|long)"/g, '"x"')
    .replaceAll(/pods "?(short|long)"?|\\"(short|long)\\"/g, "x")
    .replaceAll(/"uid":"[^"]*"/g, '"uid":""')
    .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":""')
    .replaceAll("map[spec:map[] ", "map[");
}
