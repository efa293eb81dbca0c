/**
 * Two versions of k8ts on one etcd. As a drill, with another build: three control planes of an older commit are replaced
 * one after the other, under writes. Each serves what the others wrote, at every step; nothing that was acknowledged is
 * lost.
 *
 * The drill runs with K8TS_DRILLS=all, where the repository's history is there. K8TS_UPGRADE_FROM: the older commit
 * (default: 200 before this one).
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { type EtcdServer, findEtcd, startEtcd } from "../src/store/testing/etcd-server.ts";
import { Api } from "./support/api.ts";
import { start } from "./support/command.ts";
import { freePort } from "./support/free-port.ts";
import { Home } from "./support/k8ts.ts";
import { tool } from "./support/tools.ts";

const REPOSITORY = join(import.meta.dirname, "..");
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PATIENCE = { timeout: 60_000, interval: 100 };
const PAUSE_MS = 50;
const clock = realClock();
const commit = olderCommit();
const isAsked = process.env.K8TS_DRILLS === "all" && findEtcd() !== undefined && tool("kubectl") !== undefined;

if (isAsked)
  describe.skipIf(commit === undefined)(
    `an upgrade from ${commit ?? "an older commit, which git does not have"}`,
    () => {
      const old = mkdtempSync(join(tmpdir(), "k8ts-old-"));
      const homes: Home[] = [];
      const ports: number[] = [];
      let etcd: EtcdServer;
      let writer: Writer;

      beforeAll(async () => {
        git("worktree", "add", "--detach", "--force", old, commit ?? "");
        symlinkSync(join(REPOSITORY, "node_modules"), join(old, "node_modules"));
        // The first call makes the bundle.
        execFileSync(join(old, "bin", "k8ts"), ["--version"]);
        etcd = await startEtcd({ members: 3, tls: true, dir: mkdtempSync(join(tmpdir(), "k8ts-etcd-")) });
        for (let number = 0; number < 3; number++) {
          const home = new Home();
          home.program = join(old, "bin", "k8ts");
          homes.push(home);
          ports.push(await freePort());
          mkdirSync(home.dataDir, { recursive: true, mode: 0o700 });
          // One authority for all: controllers of any of them lead.
          if (number > 0) {
            cpSync(join(at(0).dataDir, "k8ts.json"), join(home.dataDir, "k8ts.json"));
            cpSync(join(at(0).dataDir, "pki"), join(home.dataDir, "pki"), { recursive: true });
          }
          await up(number);
        }
        writer = new Writer(homes);
      });
      afterAll(async () => {
        await writer?.stop();
        for (const home of homes) await home[Symbol.asyncDispose]();
        await etcd?.stop();
        git("worktree", "remove", "--force", old);
        rmSync(old, { recursive: true, force: true });
      });

      const at = (number: number): Home => {
        const home = homes[number];
        if (home === undefined) throw new RangeError(`There is no control plane ${number}.`);
        return home;
      };
      const up = async (number: number) => {
        const { tls, endpoints } = etcd;
        const files = ["--etcd-cafile", tls?.caFile ?? "", "--etcd-certfile", tls?.certFile ?? ""];
        const place = ["--store", "etcd", "--etcd-servers", endpoints.join(), ...files, "--etcd-keyfile"];
        const flags = [...place, tls?.keyFile ?? "", "--port", String(ports[number])];
        expect(await at(number).k8ts("up", ...flags, "--detach", "--nodes", "0")).toMatchObject({ code: 0 });
      };
      const kubectl = async (number: number, ...args: readonly string[]) => {
        const env = { ...process.env, KUBECONFIG: join(at(number).dataDir, "kubeconfig") };
        const result = await start(tool("kubectl") ?? "kubectl", args, { env, cwd: at(number).dir }).ended();
        expect(result).toMatchObject({ code: 0 });
        return result.stdout.trim();
      };
      /** What each of them writes, the others serve; controllers of whichever leads work for all. */
      const worksTogether = async (step: string) => {
        for (const number of [0, 1, 2]) {
          const name = `${step}-${number}`;
          await kubectl(number, "create", "deployment", name, "--image=web:1", "--replicas=2");
          const next = (number + 1) % 3;
          const pods = async () =>
            (await kubectl(next, "get", "pods", "-l", `app=${name}`, "-o", "name")).split("\n").length;
          await expect.poll(pods, PATIENCE).toBe(2);
          await kubectl(next, "scale", "deployment", name, "--replicas=1");
          await expect.poll(pods, PATIENCE).toBe(1);
          const replicas = ["get", "deployment", name, "-o", "jsonpath={.spec.replicas}"];
          expect(await kubectl((number + 2) % 3, ...replicas)).toBe("1");
        }
      };

      it("three old ones work together", { timeout: 300_000 }, () => worksTogether("old"));

      it("they are replaced one after the other, under writes", { timeout: 600_000 }, async () => {
        const figures: string[] = [];
        for (const number of [0, 1, 2]) {
          const from = writer.times.length;
          expect(await at(number).k8ts("down")).toMatchObject({ code: 0 });
          at(number).program = join(REPOSITORY, "bin", "k8ts");
          await up(number);
          await worksTogether(`new-${number}`);
          figures.push((longestGap(writer.times.slice(Math.max(0, from - 1))) / 1000).toFixed(1));
        }
        process.stdout.write(`  seconds without writes for each replacement: ${figures.join(", ")}\n`);
      });

      it("one goes back, and serves what the new ones wrote", { timeout: 300_000 }, async () => {
        expect(await at(0).k8ts("down")).toMatchObject({ code: 0 });
        at(0).program = join(old, "bin", "k8ts");
        await up(0);
        await worksTogether("back");
      });

      it("nothing that was acknowledged is lost", async () => {
        await writer.stop();
        expect(writer.acknowledged.length).toBeGreaterThan(100);
        for (const number of [0, 1, 2]) {
          const there = new Set((await kubectl(number, "get", "configmaps", "-o", "name")).split("\n"));
          expect(writer.acknowledged.filter((name) => !there.has(`configmap/${name}`))).toEqual([]);
        }
        process.stdout.write(`  ${writer.acknowledged.length} writes were acknowledged, none is lost\n`);
      });
    },
  );

describe.skipIf(findEtcd() === undefined)("two servers on one etcd, one as an older version (needs etcd)", () => {
  const homes = [new Home(), new Home()] as const;
  let etcd: EtcdServer;
  beforeAll(async () => {
    etcd = await startEtcd({ members: 1, tls: false, dir: mkdtempSync(join(tmpdir(), "k8ts-etcd-")) });
    const flags = ["--store", "etcd", "--etcd-servers", etcd.endpoints.join(), "--port", "0", "--nodes", "0"];
    for (const [home, version] of [
      [homes[0], "1.36"],
      [homes[1], "1.33"],
    ] as const)
      expect(await home.k8ts("up", ...flags, "--detach", "--emulated-version", version)).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    for (const home of homes) await home[Symbol.asyncDispose]();
    await etcd?.stop();
  });

  it("each serves its own version's APIs, and what the other has written", async () => {
    using newer = new Api(homes[0]);
    using older = new Api(homes[1]);
    const emulated = async (api: Api) => (await api.call("GET", "/version")).body as { emulationMinor?: string };
    expect([(await emulated(newer)).emulationMinor, (await emulated(older)).emulationMinor]).toEqual(["36", "33"]);
    // Its v1 came with 1.34.
    const group = "/apis/resource.k8s.io";
    expect([(await newer.call("GET", group)).status, (await older.call("GET", group)).status]).toEqual([200, 404]);
    await older.ok("POST", CONFIG_MAPS, { metadata: { name: "of-the-older" }, data: { a: "1" } });
    await newer.ok("PATCH", `${CONFIG_MAPS}/of-the-older`, { data: { b: "2" } });
    await expect
      .poll(async () => (await older.call("GET", `${CONFIG_MAPS}/of-the-older`)).body.data, PATIENCE)
      .toEqual({ a: "1", b: "2" });
  });
});

/** Writes all the time, to whichever control plane answers. */
class Writer {
  readonly acknowledged: string[] = [];
  /** When writes were acknowledged. */
  readonly times: number[] = [];
  readonly #running: Promise<void>;
  #goesOn = true;

  constructor(homes: readonly Home[]) {
    this.#running = this.#run(homes);
  }

  async stop(): Promise<void> {
    this.#goesOn = false;
    await this.#running;
  }

  async #run(homes: readonly Home[]): Promise<void> {
    for (let count = 0; this.#goesOn; count++) {
      const name = `write-${count}`;
      for (let turn = 0; this.#goesOn; turn++) {
        const home = homes[(count + turn) % homes.length];
        if (home !== undefined && (await this.#isWritten(home, name))) {
          this.acknowledged.push(name);
          this.times.push(clock.monotonic());
          break;
        }
        await clock.sleep(PAUSE_MS);
      }
      await clock.sleep(PAUSE_MS);
    }
  }

  async #isWritten(home: Home, name: string): Promise<boolean> {
    try {
      using api = new Api(home);
      const { status } = await api.call("POST", CONFIG_MAPS, { metadata: { name } });
      // A write without an answer is sent again: then it may be there already.
      return status === 201 || status === 409;
    } catch {
      return false; // it is just being replaced
    }
  }
}

function longestGap(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((time, i) => time - (times[i] ?? time)));
}

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-C", REPOSITORY, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** Undefined where there is no history. */
function olderCommit(): string | undefined {
  try {
    return process.env.K8TS_UPGRADE_FROM ?? (git("rev-list", "-1", "--skip=200", "HEAD").trim() || undefined);
  } catch {
    return undefined;
  }
}
