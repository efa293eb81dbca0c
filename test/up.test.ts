/** The process as its users meet it: `bin/k8ts` is run for real. */
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { get } from "./support/https.ts";
import { Home } from "./support/k8ts.ts";

const memory = ["up", "--store", "memory", "--port", "0"];

describe("up in the foreground", () => {
  it("shows its steps, serves, and stops cleanly on SIGINT", async () => {
    await using home = new Home();
    const up = home.start(...memory, "--nodes", "0", "--runtime", "simulated");
    await up.printed("Ctrl-C stops it");
    expect(up.stdout()).toMatch(/✓ certificates +\d+ ms/);
    expect(up.stdout()).toMatch(/Ready in \d+ ms/);
    expect(up.stdout()).not.toContain("Note:");

    const { url } = home.runState();
    expect(JSON.parse((await get(home, `${url}/version`)).body).gitVersion).toMatch(/^v1\.36\.4\+k8ts\d/);

    up.process.kill("SIGINT");
    const [code] = await once(up.process, "close");
    expect(code).toBe(0);
    expect(up.stderr()).toBe("");
    expect(existsSync(join(home.dataDir, "run.json"))).toBe(false);
  });
});

describe("up before it is ready", () => {
  it("ends at once on SIGTERM, also when what it waits for never answers", async () => {
    await using home = new Home();
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    try {
      const up = home.start("up", "--store", "etcd", "--etcd-servers", `http://127.0.0.1:${port}`, "--port", "0");
      await up.printed("certificates");
      up.process.kill("SIGTERM");
      const [code] = await once(up.process, "close");
      expect([code, up.stderr()]).toEqual([1, "k8ts: Stopped before the cluster was ready.\n"]);
    } finally {
      silent.close();
    }
  });
});

describe("a detached cluster", () => {
  it("is ready when `up` returns, and answers over HTTP/1.1 and HTTP/2", async () => {
    await using home = new Home();
    const up = await home.k8ts(...memory, "--detach");
    expect(up).toMatchObject({ code: 0, stderr: "" });
    expect(up.stdout).toContain("Ready in");
    const { url } = home.runState();

    for (const protocol of ["http/1.1", "h2"] as const) {
      const ready = await get(home, `${url}/readyz?verbose`, { protocol });
      expect(ready).toMatchObject({ status: 200, protocol });
      expect(ready.body).toContain("[+]etcd ok\n");
      expect((await get(home, `${url}/livez/ping`, { protocol })).body).toBe("ok");
      expect((await get(home, `${url}/healthz`, { protocol })).body).toBe("ok");
      expect((await get(home, `${url}/metrics`, { protocol })).body).toMatch(/^process_resident_memory_bytes \d/m);
      expect(await get(home, `${url}/nothing-here`, { protocol })).toMatchObject({ status: 404 });
    }
    expect(home.log().find(({ message }) => message === "ready")).toMatchObject({
      readyMs: expect.any(Number),
      store: "memory",
    });
  });

  it("comes up and can be stopped, also when nobody waits for it any more", async () => {
    await using home = new Home();
    const up = home.start(...memory, "--detach");
    await up.printed("data directory");
    up.process.kill("SIGKILL");
    await up.ended();
    await expect.poll(async () => (await home.k8ts("status")).code).toBe(0);
    expect(readFileSync(join(home.dataDir, "k8ts.log"), "utf8")).not.toContain("unexpected");
    expect(await home.k8ts("down")).toMatchObject({ code: 0, stderr: "" });
  });

  it("status tells, down stops, a second up continues, reset deletes", async () => {
    await using home = new Home();
    expect(await home.k8ts("status")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("No cluster is running"),
    });
    expect((await home.k8ts("up", "--port", "0", "--detach")).code).toBe(0);
    const authority = readFileSync(join(home.dataDir, "pki", "ca.crt"), "utf8");
    expect(await home.k8ts("status")).toMatchObject({ code: 0, stdout: expect.stringContaining("ready") });
    expect(JSON.parse((await home.k8ts("status", "-o", "json")).stdout)).toMatchObject({
      running: true,
      ready: true,
      store: "embedded",
    });

    const second = await home.k8ts("up", "--port", "0", "--detach");
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/^k8ts: A cluster is already running in .*k8ts down.*\n$/);

    expect(await home.k8ts("down")).toMatchObject({ code: 0, stdout: expect.stringContaining("Stopped") });
    expect(await home.k8ts("down")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("No cluster is running"),
    });

    expect((await home.k8ts("up", "--port", "0", "--detach")).stdout).toContain("as before");
    expect(readFileSync(join(home.dataDir, "pki", "ca.crt"), "utf8")).toBe(authority);

    expect(readFileSync(home.kubeconfig, "utf8")).toContain("k8ts");
    expect(await home.k8ts("reset")).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(home.dataDir)).toBe(false);
    expect(readFileSync(home.kubeconfig, "utf8")).not.toContain("k8ts");
  });

  it("survives kill -9: the next up needs no repair", async () => {
    await using home = new Home();
    await home.k8ts("up", "--port", "0", "--detach");
    const { pid } = home.runState();
    process.kill(pid, "SIGKILL");
    await expect.poll(async () => (await home.k8ts("status")).stdout).toContain("No cluster is running");
    expect(await home.k8ts("up", "--port", "0", "--detach")).toMatchObject({ code: 0, stderr: "" });
  });

  it("keeps keys from other users' eyes", async () => {
    await using home = new Home();
    await home.k8ts(...memory, "--detach");
    const pki = join(home.dataDir, "pki");
    const secret = [
      ...readdirSync(pki)
        .filter((name) => name.endsWith(".key"))
        .map((name) => join(pki, name)),
      join(home.dataDir, "kubeconfig"),
      home.kubeconfig,
    ];
    expect(secret.length).toBeGreaterThan(3);
    for (const file of secret) expect([file, statSync(file).mode & 0o077]).toEqual([file, 0]);
  });
});

describe("snapshot and restore", () => {
  it("of a running and of a stopped cluster, into a new data directory", async () => {
    await using home = new Home();
    const file = join(home.dir, "cluster.snap");
    await home.k8ts("up", "--port", "0", "--detach");
    expect(await home.k8ts("snapshot", file)).toMatchObject({ code: 0, stderr: "" });
    await home.k8ts("down");
    expect(await home.k8ts("snapshot", file)).toMatchObject({ code: 0, stderr: "" });

    expect((await home.k8ts("restore", file)).stderr).toContain("already has state");
    expect(await home.k8ts("restore", file, "--data-dir", join(home.dir, "other"))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Restored revision"),
    });
    expect(await home.k8ts("restore", file, "--force")).toMatchObject({ code: 0 });
    expect((await home.k8ts("up", "--port", "0", "--detach")).code).toBe(0);
  });

  it("refuses a damaged file and changes nothing", async () => {
    await using home = new Home();
    const file = join(home.dir, "broken.snap");
    writeFileSync(file, "this is no snapshot");
    const restore = await home.k8ts("restore", file);
    expect(restore.code).toBe(1);
    expect(restore.stderr).toMatch(/^k8ts: [^\n]+\n$/);
    expect(existsSync(join(home.dataDir, "store"))).toBe(false);
  });

  it("only the admin may take one over the network", async () => {
    await using home = new Home();
    await home.k8ts(...memory, "--detach");
    expect(await get(home, `${home.runState().url}/k8ts/snapshot`, { anonymous: true })).toMatchObject({ status: 403 });
  });
});

describe("what goes wrong is one sentence and exit code 1", () => {
  const cases: {
    name: string;
    args: string[];
    before?: (home: Home) => void;
    says: RegExp;
    after?: (home: Home) => void;
  }[] = [
    { name: "an unknown command", args: ["fly"], says: /unknown command 'fly'/ },
    {
      name: "an unknown controller",
      args: ["up", "--store", "memory", "--port", "0", "--controllers", "*,-fly"],
      says: /--controllers: "fly" is not in the list of known controllers\./,
    },
    { name: "an unknown flag", args: ["up", "--wings"], says: /unknown option '--wings'/ },
    { name: "a bad port", args: ["up", "--port", "99999"], says: /whole number from 0 to 65535/ },
    { name: "a bad duration", args: ["up", "--event-ttl", "soon"], says: /duration such as 30m/ },
    { name: "a bad store", args: ["up", "--store", "tape"], says: /Allowed choices are embedded, memory, etcd/ },
    {
      name: "credentials of an etcd without servers",
      args: ["up", "--store", "etcd", "--etcd-cafile", "x"],
      says: /belong to --etcd-servers/,
    },
    {
      name: "servers without etcd",
      args: ["up", "--etcd-servers", "http://127.0.0.1:1"],
      says: /require --store etcd/,
    },
    {
      name: "an etcd that is not there",
      args: ["up", "--store", "etcd", "--etcd-servers", "http://127.0.0.1:1"],
      says: /127\.0\.0\.1:1/,
    },
    {
      name: "a certificate without its key",
      args: ["up", "--store", "etcd", "--etcd-servers", "https://127.0.0.1:1", "--etcd-certfile", "x"],
      says: /belong together/,
    },
    {
      name: "a directory of something else",
      args: memory,
      before: (home) => {
        mkdirSync(home.dataDir);
        writeFileSync(join(home.dataDir, "thesis.tex"), "");
      },
      after: (home) => expect(readdirSync(home.dataDir)).toEqual(["thesis.tex"]),
      says: /not a k8ts data directory/,
    },
    {
      name: "a newer data directory",
      args: memory,
      before: (home) => {
        mkdirSync(home.dataDir);
        writeFileSync(join(home.dataDir, "k8ts.json"), '{"format":999}');
      },
      says: /written by a newer k8ts/,
    },
    {
      name: "a directory that cannot be made",
      args: [...memory, "--data-dir", "/proc/k8ts-none/data"],
      says: /The data directory \/proc\/k8ts-none\/data cannot be used: ENOENT/,
    },
    { name: "a question without a cluster", args: ["why", "pod/web"], says: /No cluster is running in .*`k8ts up`/ },
    {
      name: "a question to a named one",
      args: ["why", "pod/web", "--cluster", "dev"],
      says: /No cluster is running in .*dev: start it with `k8ts up dev`/,
    },
    {
      name: "a damaged store",
      args: ["up", "--port", "0"],
      before: (home) => {
        mkdirSync(join(home.dataDir, "store"), { recursive: true });
        writeFileSync(join(home.dataDir, "k8ts.json"), '{"format":1}');
        writeFileSync(join(home.dataDir, "store", "data.mdb"), Buffer.alloc(65536, 7));
      },
      says: /damaged/,
    },
    {
      name: "a dashboard without a cluster",
      args: ["dashboard"],
      says: /No cluster is running in \S+: start it with `k8ts up`/,
    },
    {
      name: "an address of another machine",
      args: [...memory, "--bind-address", "192.0.2.1"],
      says: /not an address of this machine/,
    },
  ];
  it.each(cases)("$name", async ({ args, before, says, after }) => {
    await using home = new Home();
    before?.(home);
    for (const mode of args[0] === "up" ? [[], ["--detach"]] : [[]]) {
      const result = await home.k8ts(...args, ...mode);
      expect(result.code).toBe(1);
      expect(result.stderr).toMatch(says);
      expect(result.stderr.trim().split("\n")).toHaveLength(1);
      after?.(home);
    }
  });

  it("a port that is taken", async () => {
    await using home = new Home();
    const squatter = createServer().listen(0, "127.0.0.1");
    await once(squatter, "listening");
    const { port } = squatter.address() as { port: number };
    try {
      const result = await home.k8ts("up", "--store", "memory", "--port", String(port));
      expect(result.code).toBe(1);
      expect(result.stderr).toMatch(/^k8ts: Port \d+ on 127\.0\.0\.1 is already in use\..*\n$/);
    } finally {
      squatter.close();
    }
  });

  it("a malformed kubeconfig of the user is left alone, and the cluster runs", async () => {
    await using home = new Home();
    mkdirSync(join(home.dir, "kube"));
    writeFileSync(home.kubeconfig, "clusters: [");
    const up = await home.k8ts(...memory, "--detach");
    expect(up.code).toBe(0);
    expect(up.stdout).toMatch(/Note: .*left as it is/);
    expect(readFileSync(home.kubeconfig, "utf8")).toBe("clusters: [");
  });
});
