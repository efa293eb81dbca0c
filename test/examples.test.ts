/** The examples, with what this machine has: each runs its own tests on `k8ts serve --ephemeral`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { root } from "./layers/imports.ts";
import { run } from "./support/command.ts";
import { toolOnPath } from "./support/tools.ts";

const folder = join(root, "examples/backup");
const home = mkdtempSync(join(tmpdir(), "k8ts-examples-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Python keeps no compiled files, Go a cache between runs, which is most of its time. */
const env = {
  ...process.env,
  K8TS: join(root, "bin/k8ts"),
  PYTHONDONTWRITEBYTECODE: "1",
  GOFLAGS: "-count=1",
  GOTOOLCHAIN: "local",
};

describe("examples/gangs", () => {
  it.skipIf(toolOnPath("python3") === undefined)(
    "is tested in Python (needs python3)",
    { timeout: 120_000 },
    async () => {
      const { code, stderr } = await run("python3", ["-m", "unittest"], { env, cwd: join(root, "examples/gangs") });
      expect(stderr).toMatch(/Ran 3 tests in [\d.]+s\n\nOK\n$/);
      expect(code).toBe(0);
    },
  );
});

describe("examples/backup", () => {
  it.skipIf(toolOnPath("python3") === undefined)(
    "is tested in Python (needs python3)",
    { timeout: 120_000 },
    async () => {
      const { code, stderr } = await run("python3", ["-m", "unittest"], { env, cwd: join(folder, "python") });
      expect(stderr).toMatch(/Ran 3 tests in [\d.]+s\n\nOK\n$/);
      expect(code).toBe(0);
    },
  );

  it.skipIf(toolOnPath("go") === undefined)("is tested in Go (needs go)", { timeout: 300_000 }, async () => {
    const { code, stdout, stderr } = await run("go", ["test", "./..."], { env, cwd: join(folder, "go") });
    expect(stdout + stderr).toMatch(/^ok\s+example\.com\/backup/m);
    expect(code).toBe(0);
  });
});
