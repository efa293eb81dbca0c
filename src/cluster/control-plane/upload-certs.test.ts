import { expect, it } from "vitest";
import { realClock, silentLogger, systemRandom } from "#base";
import type { InProcessHandle } from "#client";
import { keepEtcdPublished } from "./upload-certs.ts";

it("an API server that does not answer does not hold up the end", { timeout: 10_000 }, async () => {
  const asked = Promise.withResolvers<void>();
  const handle: InProcessHandle = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  const stopping = new AbortController();
  const endpoints = () => ["https://192.0.2.1:2379"];
  const options = { handle, endpoints, clock: realClock(), random: systemRandom(), log: silentLogger };
  const publishing = keepEtcdPublished(options, stopping.signal);
  await asked.promise;
  stopping.abort();
  // A call without a signal would last 30 s.
  await expect(publishing).resolves.toBeUndefined();
});
