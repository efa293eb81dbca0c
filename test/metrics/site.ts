/**
 * A whole control plane with components in processes of their own, in a network namespace without any link: everybody
 * has their usual ports there.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { realClock } from "#base";
import { kubeconfigFor, loadAuthority, writeKubeconfig } from "#pki";
import { TestNetwork } from "../network/namespaces.ts";

const execute = promisify(execFile);
const binary = join(import.meta.dirname, "..", "..", "bin", "k8ts");
const NODE = "node";
const SERVER = "https://127.0.0.1:6443";

const AUTHENTICATION = (anonymous: boolean) => `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
anonymous: { enabled: ${anonymous} }
`;

const AUTHORIZATION = (...types: readonly string[]) => `apiVersion: apiserver.config.k8s.io/v1
kind: AuthorizationConfiguration
authorizers:
${types.map((type) => `- { type: ${type}, name: ${type.toLowerCase()} }\n`).join("")}`;

/** GET of some URLs; prints their bodies, or why there is none, as JSON. */
const FETCH = `
process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
process.removeAllListeners("warning");
const { urls, headers } = JSON.parse(process.argv[1]);
Promise.all(urls.map((url) => fetch(url, { headers, signal: AbortSignal.timeout(10_000) })
  .then(async (answer) => ({ status: answer.status, type: answer.headers.get("content-type"), body: await answer.text() }))
  .catch((error) => ({ status: 0, type: "", body: String(error.cause ?? error) }))))
  .then((answers) => process.stdout.write(JSON.stringify(answers)));`;

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

export class Site implements AsyncDisposable {
  readonly dir = mkdtempSync(join(tmpdir(), "k8ts-metrics-"));
  readonly dataDir = join(this.dir, "data");
  readonly kubeconfig = join(this.dataDir, "kubeconfig");
  readonly #authentication = join(this.dir, "authentication.yaml");
  readonly #authorization = join(this.dir, "authorization.yaml");
  readonly #network = new TestNetwork(`km${process.pid % 10_000}`);
  readonly #children: { readonly name: string; readonly child: ChildProcess; output: string }[] = [];
  readonly #kubectl: string;

  constructor(kubectl: string) {
    this.#kubectl = kubectl;
  }

  async start(): Promise<void> {
    await this.#network.addNode(NODE);
    this.configureAuthentication(true);
    this.configureAuthorization("Node", "RBAC");
    this.run("up", binary, [
      ...["up", "--runtime", "simulated", "--nodes", "3", "--no-dashboard", "--no-scheduler", "--controllers="],
      ...["--data-dir", this.dataDir, "--kubeconfig", join(this.dir, "kubeconfig")],
      `--authentication-config=${this.#authentication}`,
      `--authorization-config=${this.#authorization}`,
    ]);
    await this.until("the API server", async () => (await this.get([`${SERVER}/readyz`]))[0]?.status === 200);
    const common = ["--bind-address=127.0.0.1", "--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s"];
    this.run("controller-manager", binary, [
      "controller-manager",
      `--kubeconfig=${await this.#kubeconfigOf("system:kube-controller-manager")}`,
      `--root-ca-file=${this.#pki("ca.crt")}`,
      `--cluster-signing-cert-file=${this.#pki("ca.crt")}`,
      `--cluster-signing-key-file=${this.#pki("ca.key")}`,
      `--service-account-private-key-file=${this.#pki("sa.key")}`,
      "--use-service-account-credentials",
      ...common,
    ]);
    this.run("scheduler", binary, [
      "scheduler",
      `--kubeconfig=${await this.#kubeconfigOf("system:kube-scheduler")}`,
      ...common,
    ]);
    this.run("proxy", binary, [
      ...["proxy", `--kubeconfig=${await this.#kubeconfigOf("system:kube-proxy")}`],
      "--hostname-override=node-1",
      "--network-policy=false",
    ]);
    for (const url of [
      "https://127.0.0.1:10257/readyz",
      "https://127.0.0.1:10259/readyz",
      "http://127.0.0.1:10256/healthz",
      "http://127.0.0.1:10249/healthz",
    ])
      await this.until(url, async () => (await this.get([url]))[0]?.status === 200);
  }

  /** The file is followed: a change applies a few seconds later. */
  configureAuthentication(anonymous: boolean): void {
    writeFileSync(this.#authentication, AUTHENTICATION(anonymous));
  }

  /** Followed, too. */
  configureAuthorization(...types: readonly string[]): void {
    writeFileSync(this.#authorization, AUTHORIZATION(...types));
  }

  /** A program in the namespace, until the end of the site. */
  run(name: string, program: string, args: readonly string[], cwd = this.dir): void {
    const env = { ...process.env, HOME: this.dir, K8TS_HOME: this.dataDir, K8TS_OUTSIDE: "off" };
    const child = spawn("nsenter", [...this.#inside, program, ...args], {
      env,
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const entry = { name, child, output: "" };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (entry.output += text));
    this.#children.push(entry);
  }

  async get(urls: readonly string[], headers: Readonly<Record<string, string>> = {}): Promise<readonly Answer[]> {
    const argument = JSON.stringify({ urls, headers });
    const { stdout } = await execute("nsenter", [...this.#inside, process.execPath, "-e", FETCH, argument], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return JSON.parse(stdout) as readonly Answer[];
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    const all = [...this.#inside, this.#kubectl, `--kubeconfig=${this.kubeconfig}`, ...args];
    const { stdout } = await execute("nsenter", all, {
      maxBuffer: 64 * 1024 * 1024,
      env: { ...process.env, HOME: this.dir },
    });
    return stdout;
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const file = join(this.dir, "applied.json");
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    await this.kubectl("apply", "-f", file);
  }

  async token(account: string, namespace: string): Promise<string> {
    return (await this.kubectl("create", "token", account, "-n", namespace, "--duration=1h")).trim();
  }

  copyAuthority(to: string): void {
    cpSync(this.#pki("ca.crt"), to);
  }

  /** Polls until it is so; says what the programs printed if it takes too long. */
  async until(what: string, isSo: () => Promise<boolean>, seconds = 90): Promise<void> {
    const clock = realClock();
    const endMs = clock.monotonic() + seconds * 1000;
    for (;;) {
      if (await isSo()) return;
      if (clock.monotonic() > endMs) {
        const last = this.#children.map(({ name, output }) => `--- ${name}\n${output.slice(-2000)}`).join("\n");
        throw new Error(`${what}: not so after ${seconds} s\n${last}`);
      }
      await clock.sleep(200);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    await this.#network[Symbol.asyncDispose]();
    rmSync(this.dir, { recursive: true, force: true });
  }

  get #inside(): readonly string[] {
    return [`--net=/run/netns/${this.#network.name(NODE)}`];
  }

  #pki(file: string): string {
    return join(this.dataDir, "pki", file);
  }

  async #kubeconfigOf(user: string): Promise<string> {
    const [certPem, keyPem] = [readFileSync(this.#pki("ca.crt"), "utf8"), readFileSync(this.#pki("ca.key"), "utf8")];
    const authority = await loadAuthority({ certPem, keyPem, clock: realClock() });
    const client = await authority.issue({ commonName: user, usages: ["client"] });
    const path = join(this.dir, `${user.replaceAll(":", "-")}.conf`);
    await writeKubeconfig(path, kubeconfigFor({ name: user, server: SERVER, caPem: certPem, client }));
    return path;
  }
}
