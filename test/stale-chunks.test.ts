/** What a build leaves of earlier ones. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeStale } from "../scripts/stale-chunks.ts";

const NOW = Date.UTC(2030, 0, 1);
const current = new Set(["k8ts.mjs", "chunk-NEW.mjs"]);

describe("a build", () => {
  let dist: string;
  beforeEach(() => {
    dist = mkdtempSync(join(tmpdir(), "k8ts-dist-"));
    const files = {
      "k8ts.mjs": 3600,
      "chunk-NEW.mjs": 3600,
      "chunk-OLD.mjs": 3600,
      "k8ts.mjs.77": 61,
      "chunk-JUST.mjs": 59,
    };
    for (const [name, secondsAgo] of Object.entries(files)) {
      writeFileSync(join(dist, name), "process.stdin.resume(); console.log('here');");
      utimesSync(join(dist, name), NOW / 1000 - secondsAgo, NOW / 1000 - secondsAgo);
    }
  });
  afterEach(() => rmSync(dist, { recursive: true }));

  it("leaves what belongs to it, and what somebody may be starting from", async () => {
    await removeStale(dist, current, NOW);
    expect(readdirSync(dist).sort()).toEqual(["chunk-JUST.mjs", "chunk-NEW.mjs", "k8ts.mjs"]);
  });

  it("leaves everything while somebody runs from there", async () => {
    const child = spawn(process.execPath, [join(dist, "k8ts.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
    await once(child.stdout, "data");
    const before = readdirSync(dist);
    await removeStale(dist, current, NOW);
    expect(readdirSync(dist)).toEqual(before);
    child.stdin.end();
    await once(child, "close");
    await removeStale(dist, current, NOW);
    expect(readdirSync(dist)).toHaveLength(3);
  });
});
