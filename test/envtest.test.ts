/**
 * The folder bin/ as KUBEBUILDER_ASSETS: programs are started as the test environment of controller-runtime (envtest)
 * starts them, with its flags and files, and waited for in its way.
 */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { createAuthority, kubeconfigFor, writeKubeconfig } from "#pki";
import { findEtcd } from "../src/store/testing/etcd-server.ts";
import { type Result, type Running, run, start } from "./support/command.ts";
import { freePort } from "./support/free-port.ts";
import { tool } from "./support/tools.ts";

const assets = join(import.meta.dirname, "..", "bin");
const kubectl = tool("kubectl");
const clock = realClock();

interface Kind {
  readonly name: string;
  readonly isMissing: boolean;
  readonly variables: Readonly<Record<string, string>>;
}

const kinds: readonly Kind[] = [
  { name: "without an etcd", isMissing: kubectl === undefined, variables: {} },
  {
    name: "on a real etcd (needs etcd)",
    isMissing: kubectl === undefined || findEtcd() === undefined,
    variables: { K8TS_ENVTEST_ETCD: "path" },
  },
];

for (const { name, isMissing, variables } of kinds)
  describe.skipIf(isMissing)(`bin/ as the assets of envtest (needs kubectl), ${name}`, () => {
    let dir: string;
    const running: Running[] = [];
    beforeEach(() => {
      dir = mkdtempSync(join(tmpdir(), "k8ts-envtest-"));
    });
    afterEach(async () => {
      for (const one of running.splice(0)) await one[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    });

    const options = () => ({ env: { ...process.env, ...variables, HOME: dir }, cwd: dir });
    const launch = (program: string, args: Readonly<Record<string, string>>, more: NodeJS.ProcessEnv = {}) => {
      // It sorts flags by their names, and writes each as one word.
      const words = Object.entries(args)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, value]) => `--${name}=${value}`);
      const started = start(join(assets, program), words, { ...options(), env: { ...options().env, ...more } });
      running.push(started);
      return started;
    };
    /** It asks a program for its help, and looks for a flag at the beginning of a line. */
    const hasFlag = async (program: string, flag: string) => {
      const { code, stdout, stderr } = await run(join(assets, program), ["--help"], options());
      expect(code).toBe(0);
      return new RegExp(`^\\s*--${flag}\\b`, "m").test(stdout + stderr);
    };
    const healthy = (url: string, program: Running) => expect.poll(() => statusOf(url, program)).toBe(200);

    async function etcd(): Promise<string> {
      const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
      const fast = (await hasFlag("etcd", "unsafe-no-fsync")) ? { "unsafe-no-fsync": "true" } : {};
      const started = launch("etcd", {
        "listen-peer-urls": peer,
        "data-dir": join(dir, "etcd"),
        "advertise-client-urls": client,
        "listen-client-urls": client,
        ...fast,
      });
      await expect.poll(() => plainStatus(`${client}/health`, started)).toBe(200);
      return client;
    }

    it("runs a control plane that controllers can be tested on", async () => {
      const etcdUrl = await etcd();
      const serving = await createAuthority({ commonName: "envtest-environment", clock });
      const clients = await createAuthority({ commonName: "envtest-environment", clock });
      const pair = await serving.issue({
        commonName: "localhost",
        dnsNames: ["localhost"],
        ipAddresses: ["127.0.0.1", "::1"],
        usages: ["server"],
      });
      const signer = await createAuthority({ commonName: "envtest-environment", clock });
      const certDir = join(dir, "certs");
      const files = {
        "apiserver.crt": pair.certPem,
        "apiserver.key": pair.keyPem,
        "sa-signer.crt": signer.certPem,
        "sa-signer.key": signer.keyPem,
        "client-cert-auth-ca.crt": clients.certPem,
      };
      mkdirSync(certDir);
      for (const [name, text] of Object.entries(files)) writeFileSync(join(certDir, name), text, { mode: 0o640 });

      expect(await hasFlag("kube-apiserver", "insecure-port")).toBe(false);
      const port = await freePort();
      const url = `https://127.0.0.1:${port}`;
      const flags = {
        "allow-privileged": "true",
        "authorization-mode": "RBAC",
        "bind-address": "127.0.0.1",
        "cert-dir": certDir,
        "client-ca-file": join(certDir, "client-cert-auth-ca.crt"),
        "disable-admission-plugins": "ServiceAccount",
        "etcd-servers": etcdUrl,
        "secure-port": String(port),
        "service-account-issuer": `${url}/`,
        "service-account-key-file": join(certDir, "sa-signer.crt"),
        "service-account-signing-key-file": join(certDir, "sa-signer.key"),
        "service-cluster-ip-range": "10.0.0.0/24",
      };
      const server = launch("kube-apiserver", flags);
      await healthy(`${url}/healthz`, server);
      await healthy(`${url}/readyz`, server);

      // A user of envtest is a client certificate.
      const admin = await clients.issue({ commonName: "admin", organizations: ["system:masters"], usages: ["client"] });
      const kubeconfig = join(dir, "kubeconfig");
      await writeKubeconfig(
        kubeconfig,
        kubeconfigFor({ name: "envtest", server: url, caPem: serving.certPem, client: admin }),
      );
      const kube = async (args: readonly string[], input?: object): Promise<Result> => {
        const given = input === undefined ? {} : { input: JSON.stringify(input) };
        const result = await run(kubectl ?? "", [...args, "--kubeconfig", kubeconfig], { ...options(), ...given });
        expect(result.stderr).toBe("");
        return result;
      };
      await kube(["create", "-f", "-"], widgets);
      await kube(["wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=30s"]);
      await kube(["create", "-f", "-"], { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "one" } });
      expect((await kube(["get", "widgets", "-o", "name"])).stdout).toBe("widget.example.com/one\n");
      expect((await kube(["get", "apiservice", "v1.example.com", "--no-headers"])).stdout).toContain("True");
      // Nobody runs controllers there: pods do without a service account, namespaces stay as they are.
      const containers = [{ name: "c", image: "i", securityContext: { privileged: true } }];
      await kube(["create", "-f", "-"], {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "p" },
        spec: { containers },
      });
      await kube(["create", "service", "clusterip", "s", "--tcp=80"]);
      expect((await kube(["get", "service", "s", "-o", "jsonpath={.spec.clusterIP}"])).stdout).toMatch(
        /^10\.0\.0\.\d+$/,
      );
      expect((await kube(["get", "service", "kubernetes", "-o", "jsonpath={.spec.clusterIP}"])).stdout).toBe(
        "10.0.0.1",
      );
      await kube(["create", "serviceaccount", "robot"]);
      const token = (await kube(["create", "token", "robot"])).stdout.trim();
      const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
      expect(claims.iss).toBe(`${url}/`);

      server.process.kill("SIGTERM");
      expect(await server.ended()).toMatchObject({ code: 0 });

      // The same again: what was written is there, and now there is somebody to do the work.
      const wanted = { K8TS_ENVTEST_CONTROLLERS: "1", K8TS_ENVTEST_NODES: "2" };
      const again = launch("kube-apiserver", flags, wanted);
      await healthy(`${url}/readyz`, again);
      await kube(["wait", "--for=condition=Ready", "node", "--all", "--timeout=30s"]);
      expect((await kube(["get", "nodes", "-o", "name"])).stdout.trim().split("\n")).toHaveLength(2);
      await kube(["wait", "--for=condition=Ready", "pod/p", "--timeout=30s"]);
      await kube(["create", "-f", "-"], deployment);
      await kube(["rollout", "status", "deployment/web", "--timeout=30s"]);
      await kube(["create", "namespace", "brief"]);
      await kube(["delete", "namespace", "brief", "--timeout=30s"]);
      again.process.kill("SIGTERM");
      expect(await again.ended()).toMatchObject({ code: 0 });
    });

    it("makes certificates where there are none, and allows everything to everybody with a name unless told otherwise", async () => {
      const etcdUrl = await etcd();
      const key = join(dir, "sa.key");
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
      writeFileSync(key, privateKey.export({ type: "pkcs1", format: "pem" }));
      const tokens = join(dir, "tokens.csv");
      writeFileSync(tokens, "a-token,jane,u1");
      const port = await freePort();
      const url = `https://127.0.0.1:${port}`;
      const certDir = join(dir, "certs");
      const server = launch("kube-apiserver", {
        "bind-address": "127.0.0.1",
        "cert-dir": certDir,
        "etcd-servers": etcdUrl,
        "feature-gates": "AllAlpha=false",
        "secure-port": String(port),
        "service-account-issuer": url,
        "service-account-key-file": key,
        "service-account-signing-key-file": key,
        "token-auth-file": tokens,
        v: "2",
      });
      // Where everything is allowed, nobody is anonymous.
      await expect.poll(() => statusOf(`${url}/readyz`, server)).toBe(401);
      expect(["apiserver.crt", "apiserver.key"].map((name) => existsSync(join(certDir, name)))).toEqual([true, true]);
      const args = ["get", "namespaces", "-o", "name", "--server", url, "--token", "a-token"];
      const ca = ["--certificate-authority", join(certDir, "apiserver.crt")];
      expect(await run(kubectl ?? "", [...args, ...ca], options())).toMatchObject({
        stdout: expect.stringContaining("namespace/kube-system"),
      });
      server.process.kill("SIGTERM");
      expect(await server.ended()).toMatchObject({ code: 0 });
    });

    it.each([
      { args: ["--no-such-flag"], says: "unknown option '--no-such-flag'" },
      { args: [], says: "--etcd-servers must be specified" },
      { args: ["--etcd-servers=http://127.0.0.1:1"], says: "service-account-issuer is a required flag" },
      {
        args: ["--max-connection-bytes-per-sec=3", "--etcd-servers=http://127.0.0.1:1"],
        says: "--max-connection-bytes-per-sec is not supported",
      },
    ])("says what is wrong with $args", async ({ args, says }) => {
      const words = [...args, `--cert-dir=${dir}`];
      const { code, stderr } = await run(join(assets, "kube-apiserver"), words, options());
      expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
    });
  });

describe("bin/ without programs", () => {
  it.each([
    ["etcd", "K8TS_ENVTEST_ETCD asks for the etcd on PATH, and there is none"],
    ["kubectl", "k8ts does not include kubectl"],
  ])("says that there is no %s", async (program, says) => {
    const dir = mkdtempSync(join(tmpdir(), "k8ts-envtest-"));
    // A copy, beside which nothing is installed, and a PATH that leads nowhere but to it.
    const copy = join(dir, "bin", program);
    await run("/bin/sh", ["-c", `mkdir ${dir}/bin && cp ${join(assets, program)} ${copy}`], { env: {}, cwd: dir });
    const env = { PATH: join(dir, "bin"), K8TS_ENVTEST_ETCD: "path" };
    const { code, stderr } = await run("/bin/sh", [copy], { env, cwd: dir });
    rmSync(dir, { recursive: true });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${program}: ${says}`)]);
  });
});

describe("what stands in for etcd", () => {
  const dirs: string[] = [];
  afterEach(() => {
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
  });
  const given = async (env: NodeJS.ProcessEnv = {}) => {
    const dir = mkdtempSync(join(tmpdir(), "k8ts-envtest-"));
    dirs.push(dir);
    const url = `http://127.0.0.1:${await freePort()}`;
    const args = [`--data-dir=${dir}`, `--listen-client-urls=${url}`];
    return { url, args, options: { env: { ...process.env, HOME: dir, ...env }, cwd: dir } };
  };

  it("answers while it starts, refuses everything else, and ends by SIGTERM", async () => {
    const { url, args, options } = await given();
    await using standIn = start(join(assets, "etcd"), args, options);
    await expect.poll(() => plainStatus(`${url}/health`, standIn)).toBe(200);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ health: "true", reason: "" });
    const refused = await fetch(`${url}/v3/kv/range`, { method: "POST", body: "{}" });
    expect([refused.status, await refused.text()]).toEqual([404, expect.stringContaining("k8ts stands in for etcd")]);
    standIn.process.kill("SIGTERM");
    expect(await standIn.ended()).toMatchObject({ code: 0 });
  });

  it("ends with its parent where it is asked to", async () => {
    const { url, args, options } = await given({ K8TS_ENVTEST_END_WITH_PARENT: "1" });
    // A shell that stays: it would replace itself by a last command.
    const script = `"$0" "$@" & echo $!; wait; true`;
    await using parent = start("/bin/sh", ["-c", script, join(assets, "etcd"), ...args], options);
    await expect.poll(() => plainStatus(`${url}/health`, parent)).toBe(200);
    const pid = Number(parent.stdout());
    parent.process.kill("SIGKILL");
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });

  it.each([
    [["--cert-file=x"], "--cert-file is not supported by this stand-in for etcd."],
    [["--listen-client-urls=https://127.0.0.1:1"], "listens on http:// only"],
    [["--listen-client-urls=nowhere"], '"nowhere" is not a URL'],
    [["--no-such-flag"], "unknown option '--no-such-flag'"],
  ])("refuses %s", async (more, says) => {
    const { args, options } = await given();
    const { code, stderr } = await run(join(assets, "etcd"), [...args, ...more], options);
    expect([code, stderr]).toEqual([1, expect.stringContaining(says)]);
  });
});

const labels = { app: "web" };
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web" }] } },
  },
};

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const widgets = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
  },
};

/** 0: nobody answers yet. Rejects if the program has ended. */
async function statusOf(url: string, program: Running): Promise<number> {
  if (program.process.exitCode !== null) throw new Error(program.stderr());
  try {
    const call = request(url, { rejectUnauthorized: false, agent: false }).end();
    const [response] = await once(call, "response");
    response.resume();
    return response.statusCode;
  } catch {
    return 0;
  }
}

async function plainStatus(url: string, program: Running): Promise<number> {
  if (program.process.exitCode !== null) throw new Error(program.stderr());
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}
