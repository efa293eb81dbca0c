import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { inspectMachine, obstacles } from "./machine.ts";

const why = obstacles().join(" ");

it.skipIf(why !== "")(`the probe of a start that was killed is taken away, with its mount ${why}`, async () => {
  const scratch = mkdtempSync(join(tmpdir(), "k8ts-machine-"));
  const left = join(scratch, ".overlay-killed");
  onTestFinished(() => {
    if (existsSync(left)) execFileSync("umount", [join(left, "merged")]);
    rmSync(scratch, { recursive: true });
  });
  mkdirSync(join(left, "merged"), { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(left, "merged")]);
  await inspectMachine(scratch);
  expect(readdirSync(scratch)).toEqual([]);
});
