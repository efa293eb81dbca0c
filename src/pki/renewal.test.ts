import { X509Certificate } from "node:crypto";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { VirtualClock } from "#base";
import { DAY_MS } from "./authority.ts";
import { ensureClusterPki } from "./cluster-pki.ts";
import { LEAF_NAMES } from "./leaf.ts";
import { watchRenewal } from "./renewal.ts";

const serverNames = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"] };

async function watching() {
  const temporary = await mkdtempDisposable(join(tmpdir(), "k8ts-pki-"));
  const clock = new VirtualClock();
  const stop = new AbortController();
  const first = await ensureClusterPki(temporary.path, { clock, serverNames });
  const renewals: { readonly day: number; readonly names: readonly string[] }[] = [];
  const failures: string[] = [];
  const start = clock.now();
  const day = () => Math.floor((clock.now() - start) / DAY_MS);
  let current = first;
  const refusals: Error[] = [];
  const done = watchRenewal(first, {
    clock,
    signal: stop.signal,
    onRenewed: (pki, names) => {
      const refusal = refusals.pop();
      if (refusal !== undefined) throw refusal;
      current = pki;
      renewals.push({ day: day(), names });
    },
    onFailed: (error) => failures.push(String(error)),
  });
  return {
    ...{ dir: temporary.path, first, clock, renewals, failures, refusals, stop, done },
    current: () => current,
    /** Files are read and written in real time: each step waits until the loop sleeps again. */
    async pass(days: number, stepDays = 1) {
      for (let passed = 0; passed < days; passed += stepDays) {
        await clock.advance(Math.min(stepDays, days - passed) * DAY_MS);
        await vi.waitFor(() => expect(clock.pending).toBe(1), { timeout: 60_000, interval: 1 });
      }
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await done;
      await temporary.remove();
    },
  };
}

describe("renewal while running", () => {
  it("renews every leaf in time, year after year, and lets none expire", async () => {
    await using world = await watching();
    for (let year = 0; year < 3; year++) {
      await world.pass(365);
      for (const name of LEAF_NAMES) {
        const { validToDate } = new X509Certificate(world.current()[name].certPem);
        expect(validToDate.getTime()).toBeGreaterThan(world.clock.now() + 100 * DAY_MS);
      }
    }
    const days = [0, ...world.renewals.map(({ day }) => day)];
    expect(days.length).toBe(5);
    // Two thirds of a year, and up to a day more: virtual days go on while files are written.
    const between = days.slice(1).map((day, i) => day - (days[i] ?? 0));
    expect(between.filter((distance) => distance < 243 || distance > 245)).toEqual([]);
    expect(world.renewals.every(({ names }) => names.length === LEAF_NAMES.length)).toBe(true);
    expect(world.current().ca.certPem).toBe(world.first.ca.certPem);
    expect(world.failures).toEqual([]);
  });

  it("hands on what is on disk", async () => {
    await using world = await watching();
    await world.pass(250, 250);
    const { apiserver } = await ensureClusterPki(world.dir, { clock: world.clock, serverNames });
    expect(world.current().apiserver).toEqual(apiserver);
    expect(apiserver.certPem).not.toBe(world.first.apiserver.certPem);
  });

  it("stops renewing when leaves last as long as the CA, and says when that is over", async () => {
    await using world = await watching();
    await world.pass(3649, 100);
    const renewed = world.renewals.length;
    expect(new X509Certificate(world.current().apiserver.certPem).validToDate).toEqual(
      world.first.ca.certificate.validToDate,
    );
    expect(world.failures).toEqual([]);
    await world.pass(1);
    expect(world.failures[0]).toMatch(/ca\.crt expired on/);
    expect(world.renewals.length).toBe(renewed);
  });

  it("notices within a day that wall time jumped", async () => {
    await using world = await watching();
    await world.pass(1);
    world.clock.jump(300 * DAY_MS);
    await world.pass(1);
    expect(world.renewals.length).toBe(1);
  });

  it("tells a failure and tries again every hour until it works", async () => {
    await using world = await watching();
    await writeFile(join(world.dir, "ca.key"), "garbage");
    await world.pass(243);
    expect(world.failures).toEqual([]);
    await world.pass(1, 1 / 24);
    expect(world.failures.length).toBeGreaterThan(5);
    expect(world.failures.length).toBeLessThan(24);
    expect(world.failures[0]).toMatch(/PkiError: .*ca\.key cannot be used/);
    await writeFile(join(world.dir, "ca.key"), world.first.ca.keyPem);
    await world.pass(1);
    expect(world.renewals.length).toBe(1);
  });

  it("hands on again what could not be taken", async () => {
    await using world = await watching();
    world.refusals.push(new Error("busy"), new Error("busy"));
    await world.pass(243);
    await world.pass(1, 1 / 24);
    expect(world.failures).toEqual(["Error: busy", "Error: busy"]);
    expect(world.renewals.map(({ names }) => names)).toEqual([LEAF_NAMES]);
  });

  it("ends with its signal and leaves no timer", async () => {
    await using world = await watching();
    await world.pass(1);
    world.stop.abort();
    await world.done;
    expect(world.clock.pending).toBe(0);
  });
});
