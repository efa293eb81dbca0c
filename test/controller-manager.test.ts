/**
 * `k8ts controller-manager` beside a cluster that runs no controllers itself: two real processes, of which one works.
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { kubeconfigFor, loadAuthority, readKubeconfig, writeKubeconfig } from "#pki";
import type { Running } from "./support/command.ts";
import { freePort } from "./support/free-port.ts";
import { Home } from "./support/k8ts.ts";
import { deployment } from "./support/manifests.ts";
import { CommandLine, tool } from "./support/tools.ts";

const program = tool("kubectl");

/** One to a name; all are gone at the end. */
const home = new Home();
const kubectl = new CommandLine(program, () => home);
const managers = new Map<string, { readonly process: Running; readonly port: number }>();

const pki = (file: string) => join(home.dataDir, "pki", file);
const kubeconfig = join(home.dir, "controller-manager.conf");

beforeAll(async () => {
  if (program === undefined) return;
  const up = await home.k8ts("up", "--store", "memory", "--port", "0", "--nodes", "0", "--controllers=", "--detach");
  if (up.code !== 0) throw new Error(up.stderr);
  // As kubeadm makes it: who has this certificate may do what the controller manager's role says, and no more.
  const [certPem, keyPem] = [readFileSync(pki("ca.crt"), "utf8"), readFileSync(pki("ca.key"), "utf8")];
  const authority = await loadAuthority({ certPem, keyPem, clock: realClock() });
  const client = await authority.issue({ commonName: "system:kube-controller-manager", usages: ["client"] });
  const { server } = await readKubeconfig(join(home.dataDir, "kubeconfig"));
  await writeKubeconfig(kubeconfig, kubeconfigFor({ name: "kcm", server, caPem: certPem, client }));
});
afterAll(() => home[Symbol.asyncDispose]());

async function startManager(name: string, ...more: string[]): Promise<void> {
  const port = await freePort();
  const process = home.start(
    "controller-manager",
    `--kubeconfig=${kubeconfig}`,
    `--root-ca-file=${pki("ca.crt")}`,
    `--cluster-signing-cert-file=${pki("ca.crt")}`,
    `--cluster-signing-key-file=${pki("ca.key")}`,
    `--service-account-private-key-file=${pki("sa.key")}`,
    "--use-service-account-credentials",
    "--leader-elect-lease-duration=6s",
    "--leader-elect-renew-deadline=4s",
    "--leader-elect-retry-period=500ms",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    ...more,
  );
  managers.set(name, { process, port });
  await expect.poll(() => ask(name, "/healthz").then(({ body }) => body)).toBe("ok");
}

async function ask(name: string, path: string, token?: string): Promise<{ status: number; body: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port: managers.get(name)?.port, path, headers, agent: false };
    // Its certificate is its own: nobody could check it.
    request({ ...options, rejectUnauthorized: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .once("error", reject)
      .end();
  });
}

const podsOf = async (app: string) => {
  const { items } = (await kubectl.json("get", "pods", "-l", `app=${app}`)) as { items: readonly unknown[] };
  return items.length;
};
const holder = () =>
  kubectl.ok("-n", "kube-system", "get", "lease", "kube-controller-manager", "-o", "jsonpath={.spec.holderIdentity}");
const hasBecomeLeader = (name: string) =>
  managers.get(name)?.process.stderr().includes('"message":"became the leader"') ?? false;

describe.skipIf(program === undefined)("controllers in processes of their own (needs kubectl)", () => {
  it("without any, nothing happens", async () => {
    await kubectl.given(deployment("early", "i", { replicas: 3 })).ok("apply", "-f", "-");
    expect(await podsOf("early")).toBe(0);
    expect(await kubectl.ok("get", "serviceaccounts", "-A")).toBe("");
  });

  it("one of two works; each controller as its own service account, with its own role", async () => {
    await startManager("first");
    await expect.poll(() => podsOf("early")).toBe(3);
    await startManager("standby");
    expect(hasBecomeLeader("standby")).toBe(false);
    const accounts = await kubectl.ok("-n", "kube-system", "get", "serviceaccounts", "-o", "name");
    expect(accounts.split("\n")).toEqual(
      expect.arrayContaining(["serviceaccount/deployment-controller", "serviceaccount/replicaset-controller"]),
    );
    expect(
      await kubectl.ok("auth", "can-i", "create", "pods", `--as=system:kube-controller-manager`).catch(String),
    ).toContain("no");
  });

  it("signs certificates and tokens, and publishes what to trust", async () => {
    const trusted = () => kubectl.ok("get", "configmap", "kube-root-ca.crt", "-o", "jsonpath={.data.ca\\.crt}");
    await expect.poll(() => trusted().catch(() => "")).toBe(readFileSync(pki("ca.crt"), "utf8"));
    await kubectl
      .given({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "kept", annotations: { "kubernetes.io/service-account.name": "default" } },
        type: "kubernetes.io/service-account-token",
      })
      .ok("apply", "-f", "-");
    const token = () => kubectl.ok("get", "secret", "kept", "-o", "jsonpath={.data.token}");
    await expect.poll(token).not.toBe("");
    const decoded = Buffer.from(await token(), "base64").toString();
    const { server } = await readKubeconfig(kubeconfig);
    const who = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];
    const asToken = [`--server=${server}`, `--certificate-authority=${pki("ca.crt")}`, `--token=${decoded}`];
    expect(await kubectl.env({ KUBECONFIG: "" }).ok(...who, ...asToken)).toBe("system:serviceaccount:default:default");
  });

  it("tells about itself: health to everybody, metrics to those who may read them", async () => {
    expect(await ask("first", "/livez")).toEqual({ status: 200, body: "ok" });
    expect(await ask("standby", "/readyz?verbose")).toEqual({
      status: 200,
      body: "[+]ping ok\nreadyz check passed\n",
    });
    expect((await ask("first", "/metrics")).status).toBe(403);
    expect((await ask("first", "/metrics", "nobody's")).status).toBe(401);
    await kubectl.ok(
      "create",
      "clusterrolebinding",
      "reads",
      "--clusterrole=system:monitoring",
      "--serviceaccount=default:default",
    );
    const token = (await kubectl.ok("create", "token", "default")).trim();
    const leads = async (name: string) =>
      /leader_election_master_status\{name="kube-controller-manager"\} (\d)/.exec(
        (await ask(name, "/metrics", token)).body,
      )?.[1];
    expect(await leads("first")).toBe("1");
    expect(await leads("standby")).toBe("0");
    expect((await ask("first", "/metrics", token)).body).toMatch(
      /workqueue_adds_total\{name="deployment-controller"\} [1-9]/,
    );
    expect((await ask("first", "/elsewhere", token)).status).toBe(403);
  });

  it("kill -9 of the one at work: the other takes over, and nothing is lost or done twice", async () => {
    const before = await holder();
    const creating = ["a", "b", "c", "d"].map((name) =>
      kubectl.given(deployment(name, "i", { replicas: 5 })).ok("apply", "-f", "-"),
    );
    await Promise.race(creating);
    managers.get("first")?.process.process.kill("SIGKILL");
    await Promise.all(creating);
    await kubectl.ok("scale", "deployment", "early", "--replicas=1");
    await expect.poll(() => hasBecomeLeader("standby")).toBe(true);
    expect(await holder()).not.toBe(before);
    for (const name of ["a", "b", "c", "d"]) await expect.poll(() => podsOf(name)).toBe(5);
    await expect.poll(() => podsOf("early")).toBe(1);
    const { items } = (await kubectl.json("get", "replicasets")) as { items: readonly unknown[] };
    expect(items).toHaveLength(5);
  });

  it("who is stopped gives the lease back, and the next works at once", async () => {
    await startManager("third");
    const stopping = managers.get("standby")?.process;
    stopping?.process.kill("SIGTERM");
    expect((await stopping?.ended())?.code).toBe(0);
    await expect.poll(() => hasBecomeLeader("third")).toBe(true);
    await kubectl.ok("scale", "deployment", "a", "--replicas=2");
    await expect.poll(() => podsOf("a")).toBe(2);
  });
});

describe.skipIf(program === undefined)("its flags", () => {
  it.each([
    { flags: [], want: "--kubeconfig is required" },
    { flags: ["--kubeconfig=nowhere"], want: "nowhere does not exist" },
    {
      flags: [`--kubeconfig=${kubeconfig}`, "--controllers=*,-nope"],
      want: '"nope" is not in the list of known controllers',
    },
    { flags: [`--kubeconfig=${kubeconfig}`, "--cluster-signing-cert-file=x"], want: "belong together" },
    { flags: [`--kubeconfig=${kubeconfig}`, "--cloud-provider=aws"], want: "--cloud-provider is not supported" },
    { flags: [`--kubeconfig=${kubeconfig}`, "--leader-elect-lease-duration=5s"], want: "must be longer than" },
  ])("$want", async ({ flags, want }) => {
    const { code, stderr } = await home.k8ts("controller-manager", ...flags);
    expect(code).toBe(1);
    expect(stderr).toContain(want);
  });
});

describe.skipIf(program === undefined)("k8ts kubectl", () => {
  it("is kubectl on this cluster, with its words and its exit code", async () => {
    const found = await home.k8ts(
      "kubectl",
      "-n",
      "kube-system",
      "get",
      "configmap",
      "extension-apiserver-authentication",
      "-o",
      "name",
    );
    expect(found).toMatchObject({ code: 0, stdout: "configmap/extension-apiserver-authentication\n" });
    const missing = await home.k8ts("kubectl", "get", "configmap", "nope");
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('configmaps "nope" not found');
    const elsewhere = await home.k8ts("kubectl", "--data-dir", join(home.dir, "none"), "get", "pods");
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining("start one with `k8ts up`") });
  });
});
