import { describe, expect, it } from "vitest";
import { silentLogger } from "#base";
import { answerHealth, type HealthCheck, type HealthQuestion } from "./health.ts";

const good = (name: string): HealthCheck => ({ name, check: async () => {} });
const bad = (name: string): HealthCheck => ({ name, check: async () => Promise.reject(new Error("secret reason")) });

const plain: HealthQuestion = { endpoint: "readyz", verbose: false, exclude: [] };

describe("health endpoints", () => {
  const cases: { name: string; ask: HealthQuestion; checks: HealthCheck[]; want: [number, string] }[] = [
    { name: "all well", ask: plain, checks: [good("ping")], want: [200, "ok"] },
    {
      name: "verbose lists every check",
      ask: { ...plain, verbose: true },
      checks: [good("ping"), good("etcd")],
      want: [200, "[+]ping ok\n[+]etcd ok\nreadyz check passed\n"],
    },
    {
      name: "a failure is always listed, without its reason",
      ask: plain,
      checks: [good("ping"), bad("etcd")],
      want: [500, "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n"],
    },
    {
      name: "an excluded check does not count",
      ask: { ...plain, verbose: true, exclude: ["etcd"] },
      checks: [good("ping"), bad("etcd")],
      want: [200, "[+]ping ok\n[+]etcd excluded: ok\nreadyz check passed\n"],
    },
    {
      name: "excluding an unknown check is no failure",
      ask: { ...plain, exclude: ["bogus"] },
      checks: [good("ping")],
      want: [200, "ok"],
    },
    {
      name: "one check by name",
      ask: { ...plain, only: "ping" },
      checks: [good("ping"), bad("etcd")],
      want: [200, "ok"],
    },
    {
      name: "one failing check by name",
      ask: { ...plain, only: "etcd" },
      checks: [bad("etcd")],
      want: [500, "internal server error: reason withheld\n"],
    },
    {
      name: "an unknown check",
      ask: { ...plain, only: "none" },
      checks: [good("ping")],
      want: [404, "404 page not found\n"],
    },
  ];
  it.each(cases)("$name", async ({ ask, checks, want }) => {
    const { status, body } = await answerHealth(ask, checks, silentLogger);
    expect([status, body]).toEqual(want);
  });
});
