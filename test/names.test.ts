/** Several clusters side by side, by their names; each is started, found and removed by its name alone. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Home } from "./support/k8ts.ts";

interface Kubeconfig {
  readonly "current-context": string;
  readonly contexts: readonly { readonly name: string }[];
}

const FLAGS = ["--store", "memory", "--nodes", "0", "--detach"];

function contexts(home: Home): { readonly names: readonly string[]; readonly current: string } {
  const config = parse(readFileSync(home.kubeconfig, "utf8")) as Kubeconfig;
  return { names: config.contexts.map(({ name }) => name), current: config["current-context"] };
}

async function rows(home: Home): Promise<Record<string, unknown>[]> {
  return JSON.parse((await home.k8ts("ls", "-o", "json")).stdout);
}

const ok = { code: 0, stderr: "" };

describe("clusters by name", () => {
  it("run side by side, each with its directory, port and context, and go without a trace", async () => {
    await using home = new Home();
    expect(await home.k8ts("ls")).toMatchObject({ ...ok, stdout: expect.stringContaining("There are no clusters") });
    expect(await home.k8ts("up", "a", ...FLAGS)).toMatchObject(ok);
    expect(await home.k8ts("up", "b", ...FLAGS)).toMatchObject(ok);
    expect(await home.k8ts("up", ...FLAGS)).toMatchObject(ok);
    const found = await rows(home);
    expect(found).toMatchObject([
      { name: "default", state: "running", nodes: 0, context: "k8ts", dataDir: home.dataDir },
      { name: "a", state: "running", nodes: 0, context: "k8ts-a", dataDir: join(home.dataDir, "a") },
      { name: "b", state: "running", nodes: 0, context: "k8ts-b", dataDir: join(home.dataDir, "b") },
    ]);
    expect(new Set(found.map(({ address }) => address)).size).toBe(3);
    expect(contexts(home)).toEqual({ names: ["k8ts-a", "k8ts-b", "k8ts"], current: "k8ts" });

    for (const words of [
      ["status", "a"],
      ["status", "--cluster", "a"],
    ])
      expect((await home.k8ts(...words)).stdout).toContain(String(found[1]?.address));
    home.env.K8TS_CLUSTER = "b";
    expect((await home.k8ts("status")).stdout).toContain(String(found[2]?.address));
    delete home.env.K8TS_CLUSTER;

    expect(await home.k8ts("down", "a")).toMatchObject(ok);
    expect((await rows(home)).map(({ name, state }) => `${name} ${state}`)).toEqual([
      "default running",
      "a stopped",
      "b running",
    ]);
    expect(await home.k8ts("reset", "--yes")).toMatchObject(ok);
    expect(contexts(home)).toEqual({ names: ["k8ts-a", "k8ts-b"], current: "k8ts-b" });
    expect(await home.k8ts("reset", "b")).toMatchObject(ok);
    expect(contexts(home)).toEqual({ names: ["k8ts-a"], current: "k8ts-a" });
    expect(await home.k8ts("reset", "a")).toMatchObject(ok);
    expect(contexts(home)).toEqual({ names: [], current: "" });
    expect(existsSync(home.dataDir)).toBe(false);
  });

  it("keep their ports: --port 0, and none, take the one of the last start", async () => {
    await using home = new Home();
    const up = (...flags: string[]) => home.k8ts("up", "a", ...FLAGS, ...flags);
    const address = async () => (await rows(home))[0]?.address;
    await up("--port", "0");
    const first = await address();
    for (const flags of [["--port", "0"], []]) {
      await home.k8ts("down", "a");
      expect(await up(...flags)).toMatchObject(ok);
      expect(await address()).toBe(first);
    }
    await home.k8ts("reset", "a");
  });
});

describe("a context of another cluster", () => {
  const elsewhere = (home: Home, name: string) => ["--data-dir", join(home.dir, name)];

  it("stays while that one runs, and is taken over with a word when it does not; reset removes only its own", async () => {
    await using home = new Home();
    const [one, two] = [elsewhere(home, "one"), elsewhere(home, "two")];
    expect(await home.k8ts("up", ...one, ...FLAGS, "--port", "0")).toMatchObject(ok);
    const before = readFileSync(home.kubeconfig, "utf8");
    const second = await home.k8ts("up", ...two, ...FLAGS, "--port", "0");
    expect(second.stdout).toMatch(
      /Note: The context k8ts in \S+ is that of the cluster in \S+one, which runs: it stays\./,
    );
    expect(readFileSync(home.kubeconfig, "utf8")).toBe(before);
    await home.k8ts("down", ...two);
    await home.k8ts("down", ...one);
    const third = await home.k8ts("up", ...two, ...FLAGS, "--port", "0");
    expect(third.stdout).toMatch(
      /Note: The context k8ts in \S+ was that of the cluster in \S+one: it is this cluster's now\./,
    );
    expect(await home.k8ts("reset", ...one)).toMatchObject(ok);
    expect(contexts(home).names).toEqual(["k8ts"]);
    expect(await home.k8ts("reset", ...two)).toMatchObject(ok);
    expect(contexts(home).names).toEqual([]);
  });
});
