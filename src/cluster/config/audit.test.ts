import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogger, silentLogger, VirtualClock } from "#base";
import { readAudit } from "./audit.ts";
import { ClusterError } from "./errors.ts";

describe("flags of audit", () => {
  let dir = "";
  const file = (name: string) => join(dir, name);
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "cluster-audit-"));
    writeFileSync(file("policy"), "{kind: Policy, apiVersion: audit.k8s.io/v1, rules: [{level: Metadata, verb: x}]}");
    writeFileSync(file("bad"), "{kind: Policy, apiVersion: audit.k8s.io/v1, rules: []}");
    writeFileSync(
      file("hook"),
      JSON.stringify({
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "c" } }],
        clusters: [{ name: "c", cluster: { server: "https://audit.example/hook" } }],
      }),
    );
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it("say where events go, and how", async () => {
    const settings = await readAudit(
      {
        policyFile: file("policy"),
        log: { path: "-", mode: "batch", maxMegabytes: 2, maxBackups: 0, truncate: true, maxEventBytes: 7 },
        webhook: { configFile: file("hook"), maxSize: 5, qps: 3, initialBackoffMs: 1_000 },
      },
      silentLogger,
    );
    expect(settings.policy?.rules.map(({ level }) => level)).toEqual(["Metadata"]);
    expect(settings.log).toEqual({
      path: "-",
      mode: "batch",
      rotation: { maxBytes: 2 * 1024 * 1024, maxBackups: 0 },
      truncation: { maxEventBytes: 7, maxBatchBytes: 10 * 1024 * 1024 },
    });
    expect(settings.webhook).toMatchObject({
      connection: { server: "https://audit.example/hook" },
      batch: { maxSize: 5, throttle: { qps: 3, burst: 15 } },
      initialBackoffMs: 1_000,
    });
  });

  it("may lift the limit of batches", async () => {
    const { webhook } = await readAudit(
      { policyFile: file("policy"), webhook: { configFile: file("hook"), throttle: false } },
      silentLogger,
    );
    expect(webhook?.batch).toEqual({ throttle: undefined });
  });

  it.each([
    ["bad", "hook", "--audit-policy-file: "],
    ["missing", "hook", "--audit-policy-file: "],
    ["policy", "missing", "--audit-webhook-config-file: "],
  ])("of files %s and %s make a sentence", async (policy, hook, want) => {
    const reading = readAudit({ policyFile: file(policy), webhook: { configFile: file(hook) } }, silentLogger);
    await expect(reading).rejects.toThrow(ClusterError);
    await expect(reading).rejects.toThrow(want);
  });

  it("are told to do nothing without a policy, and what a policy has that nobody knows", async () => {
    const lines: string[] = [];
    const clock = new VirtualClock();
    const log = createLogger({ clock, format: "json", level: "info", write: (line) => void lines.push(line) });
    expect(await readAudit({ log: { path: "-" } }, log)).toEqual({});
    await readAudit({ policyFile: file("policy") }, log);
    expect(lines.join("")).toContain("--audit-log-path without --audit-policy-file");
    expect(lines.join("")).toContain("rules[0].verb");
  });
});
