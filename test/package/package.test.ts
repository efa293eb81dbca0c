/**
 * The published package, from outside: packed, installed into an empty folder, type-checked, and used by three test
 * runners, on the oldest Node that the library supports, and on the command line.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Result, run } from "../support/command.ts";

const root = join(import.meta.dirname, "..", "..");
const runners = join(root, ".tools", "test-runners", "node_modules");
const node22 = join(runners, `node-linux-${process.arch === "arm64" ? "arm64" : "x64"}`, "bin", "node");
const MINUTES = 60_000;

const isReady = existsSync(runners);

describe.skipIf(!isReady)("the published package (needs .tools/test-runners)", () => {
  // Nothing is made for a suite that is skipped.
  const work = isReady ? mkdtempSync(join(tmpdir(), "k8ts-package-")) : tmpdir();
  const folder = join(work, "consumer");
  const home = join(work, "home");
  const env = {
    ...process.env,
    HOME: home,
    K8TS_HOME: join(home, "data"),
    KUBECONFIG: join(home, "kubeconfig"),
    npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? home, ".npm"),
  };

  const ok = async (program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}, cwd = folder) => {
    const { code, stdout, stderr }: Result = await run(program, args, { env: { ...env, ...more }, cwd });
    if (code !== 0) throw new Error(`${program} ${args.join(" ")}: exit code ${code}: ${stdout}${stderr}`);
    return stdout + stderr;
  };
  const bin = (name: string) => join(runners, ".bin", name);

  beforeAll(async () => {
    mkdirSync(home);
    mkdirSync(folder);
    await ok("npm", ["pack", "--loglevel=error", "--pack-destination", work], {}, root);
    const archive = readdirSync(work).find((name) => name.endsWith(".tgz"));
    await ok("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", join(work, archive ?? "none")]);
    // Runners are found where npm would have put them: in a folder above.
    symlinkSync(runners, join(work, "node_modules"));
    cpSync(join(import.meta.dirname, "consumer"), folder, { recursive: true });
    await ok(bin("tsc"), ["-p", "tsconfig.json"]);
  }, 10 * MINUTES);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  it("has programs and types, and nothing that a user does not need", () => {
    const files = readdirSync(join(folder, "node_modules/k8ts"), { recursive: true, encoding: "utf8" });
    for (const needed of ["bin/k8ts", "dist/k8ts.mjs", "dist/lib/testing.mjs", "dist/types/testing/index.d.ts"])
      expect(files).toContain(needed);
    const unwanted = /(^|\/)src\/|\.compile-cache|\.test\.|(?<!\.d)\.tsx?$/;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
  });

  it("has types that stand alone", () => {
    const types = join(folder, "node_modules/k8ts/dist/types");
    const named = readdirSync(types, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".d.ts"))
      .flatMap((file) => [...readFileSync(join(types, file), "utf8").matchAll(/(?:\sfrom|import\()\s*"([^."][^"]*)"/g)])
      .map(([, name = ""]) => name);
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const foreign = new Set(named.filter((name) => !name.startsWith("node:") && !(name in dependencies)));
    expect([...foreign]).toEqual([]);
  });

  it("has a part for browsers, which needs no types of Node and nothing of it at run time", async () => {
    await ok(bin("tsc"), ["-p", "tsconfig.browser.json"]);
    const bundled = await build({
      entryPoints: [join(folder, "browser.ts")],
      bundle: true,
      write: false,
      platform: "browser",
      format: "iife",
      globalName: "page",
    });
    const page = createContext({ TextEncoder, TextDecoder, atob, btoa });
    runInContext(bundled.outputFiles[0]?.text ?? "", page);
    expect(runInContext('[page.fits("500m", "1"), page.fits("2Gi", "1G")]', page)).toEqual([true, false]);
  });

  it("works in vitest, jest and node:test", async () => {
    expect(await ok(bin("vitest"), ["run"])).toMatch(/Tests .*2 passed/);
    expect(await ok(bin("jest"), [], { NODE_OPTIONS: "--experimental-vm-modules" })).toMatch(/Tests: .*2 passed/);
    expect(await ok(process.execPath, ["--test", "built/operator.node.js"])).toMatch(/pass 1/);
  });

  it.skipIf(!existsSync(node22))("works on Node 22", async () => {
    expect(await ok(node22, ["--version"])).toMatch(/^v22\./);
    expect(await ok(node22, ["--test", "--test-reporter=spec", "built/operator.node.js"])).toMatch(/pass 1/);
  });

  it("starts a cluster from the command line, in an empty folder", async () => {
    const up = ["k8ts", "up", "--store", "memory", "--nodes", "1", "--runtime", "simulated", "--port", "0", "--detach"];
    await ok("npx", up, { K8TS_OUTSIDE: "off" });
    try {
      expect(await ok("npx", ["k8ts", "status"])).toMatch(/ready|running/i);
    } finally {
      await ok("npx", ["k8ts", "down"]);
    }
  });
});
