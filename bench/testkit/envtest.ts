/**
 * The same test as in figures.ts on envtest's way: a control plane of two processes for each test, with controllers and
 * a node, reached over HTTPS.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { realClock } from "#base";
import { createAuthority } from "#pki";
import { freePort } from "../../test/support/free-port.ts";

const BIN = join(import.meta.dirname, "..", "..", "bin");
/** envtest looks as often. */
const POLL_MS = 100;
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const PODS = "/api/v1/namespaces/default/pods";

/** Milliseconds until the control plane is ready, and until the test is over. */
export async function envtestStory(): Promise<{ readonly readyMs: number; readonly totalMs: number }> {
  const dir = mkdtempSync(join(tmpdir(), "k8ts-bench-"));
  const programs: ChildProcess[] = [];
  const launch = (program: string, flags: Readonly<Record<string, string>>) => {
    const words = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    const env = { ...process.env, K8TS_ENVTEST_CONTROLLERS: "1", K8TS_ENVTEST_NODES: "1" };
    programs.push(spawn(join(BIN, program), words, { env, stdio: "ignore" }));
  };
  const agent = new Agent({ rejectUnauthorized: false, keepAlive: true });
  try {
    const { keyPem } = await createAuthority({ commonName: "signer", clock: realClock() });
    writeFileSync(join(dir, "sa.key"), keyPem);
    writeFileSync(join(dir, "tokens"), "token,admin,u,system:masters");
    const startMs = performance.now();
    const etcd = `http://127.0.0.1:${await freePort()}`;
    launch("etcd", { "data-dir": join(dir, "etcd"), "listen-client-urls": etcd, "unsafe-no-fsync": "true" });
    await until(() => fetch(`${etcd}/health`).then(({ ok }) => ok));
    const port = await freePort();
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { authorization: "Bearer token", "content-type": "application/json" };
      const call = request({ host: "127.0.0.1", port, method, path, headers, agent });
      call.end(body && JSON.stringify(body));
      const [response] = await once(call, "response");
      return { status: response.statusCode as number, body: await text(response) };
    };
    launch("kube-apiserver", {
      "authorization-mode": "RBAC",
      "bind-address": "127.0.0.1",
      "cert-dir": dir,
      "etcd-servers": etcd,
      "secure-port": String(port),
      "service-account-issuer": "https://kubernetes.default.svc",
      "service-account-key-file": join(dir, "sa.key"),
      "service-account-signing-key-file": join(dir, "sa.key"),
      "token-auth-file": join(dir, "tokens"),
    });
    await until(async () => (await ask("GET", "/readyz")).status === 200);
    const readyMs = performance.now() - startMs;
    const labels = { app: "web" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "app", image: "app" }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    await until(async () => (await ask("GET", "/api/v1/namespaces/default/serviceaccounts/default")).status === 200);
    await ask("POST", DEPLOYMENTS, { metadata: { name: "web" }, spec });
    await until(async () => JSON.parse((await ask("GET", `${DEPLOYMENTS}/web`)).body).status?.readyReplicas === 2);
    await ask("DELETE", `${DEPLOYMENTS}/web`, { propagationPolicy: "Background" });
    await until(async () => JSON.parse((await ask("GET", PODS)).body).items.length === 0);
    return { readyMs, totalMs: performance.now() - startMs };
  } finally {
    agent.destroy();
    for (const program of programs.reverse()) {
      const exited = once(program, "exit");
      program.kill();
      await exited;
    }
    rmSync(dir, { recursive: true, force: true });
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds().catch(() => false))) await sleep(POLL_MS);
}
