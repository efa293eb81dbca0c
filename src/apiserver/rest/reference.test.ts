/** Lists and watches, compared with the answers that a real server gave. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { decodeEnvelope, decodeWatchFrame } from "#api";
import { configMap, type TestServer, testServer } from "../testing/index.ts";

const reference = fileURLToPath(new URL("../../../../shared/reference/watch/", import.meta.url));
const read = (file: string) => readFileSync(reference + file, "utf8");
const present = existsSync(reference);
const CONFIG_MAPS = "/api/v1/namespaces/demo/configmaps";

interface Captured {
  readonly query: string;
  readonly status: number;
  readonly body: { readonly message?: string; readonly items?: number } | string;
  readonly retryAfter: string | null;
}

/** What differs from one cluster to the next. */
const anyRevision = (text: string) => text.replace(/current: \d+/, "current: N").replace(/\(\d+\)/, "(N)");

async function filled(): Promise<TestServer> {
  const server = await testServer();
  for (const name of ["a", "b", "c"]) await server.request("POST", CONFIG_MAPS, { body: configMap(name) });
  return server;
}

describe.skipIf(!present)("answers of a real server (../shared/reference/watch)", () => {
  const captured = present
    ? Object.entries(JSON.parse(read("list-watch-errors.json")) as Record<string, Captured>)
    : [];

  it.each(captured.filter(([, { body }]) => typeof body === "object" && body.items === undefined))(
    "%s",
    async (_, { query, status, body, retryAfter }) => {
      const server = await filled();
      // The state of revision 1 is gone there too.
      await server.store.compact(await server.store.revision());
      const asked = server.request("GET", `${CONFIG_MAPS}?${query}`);
      await server.clock.advance(5_000);
      const answer = await asked;
      expect([answer.status, answer.headers["retry-after"] ?? null]).toEqual([status, retryAfter]);
      expect(JSON.parse(anyRevision(answer.text))).toEqual(JSON.parse(anyRevision(JSON.stringify(body))));
      await server.close();
    },
  );

  it("a watch whose revision is too old", async () => {
    const server = await filled();
    const restarted = await testServer({ store: server.store, clock: server.clock });
    const watch = await restarted.watch(`${CONFIG_MAPS}?watch=1&resourceVersion=1`);
    expect(JSON.parse(anyRevision(watch.bytes.toString()))).toEqual(
      JSON.parse(anyRevision(read("05-watch-rv-1-expired.jsonl"))),
    );
    await restarted.close();
    await server.close();
  });

  it("a watch with initial events in protobuf is framed the same", async () => {
    const server = await testServer();
    await server.request("POST", CONFIG_MAPS, { body: configMap("w", {}, { labels: { w: "1" } }) });
    const query =
      "watch=1&labelSelector=w%3D1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const watch = await server.watch(`${CONFIG_MAPS}?${query}`, {
      headers: { accept: "application/vnd.kubernetes.protobuf;stream=watch" },
    });
    const theirs = framesOf(Buffer.from(read("08-watch-protobuf.b64"), "base64"));
    expect(framesOf(watch.bytes)).toEqual(theirs.slice(0, 2));
    await server.close();
  });
});

function framesOf(bytes: Uint8Array): string[] {
  const found: string[] = [];
  for (let next = decodeWatchFrame(bytes); next !== undefined; next = decodeWatchFrame(next.rest)) {
    const { apiVersion, kind } = decodeEnvelope(next.frame.object);
    found.push(`${next.frame.type} ${apiVersion} ${kind}`);
  }
  return found;
}
