/**
 * A real etcd for tests and benchmarks: one member or a cluster of three, on free loopback ports, plain or with mutual
 * TLS, whose members can be killed, paused and brought back.
 *
 * 1. It is up when every member answers a linearizable read, so a test never starts in the middle of an election.
 * 2. Nothing stays behind: `stop` ends the processes, paused ones too, and removes their data. They also end with this
 *    process, and on Linux even if it is killed.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServiceError } from "@grpc/grpc-js";
import { type Clock, nextTurn, realClock } from "#base";
import { createAuthority } from "#pki";
import { openChannel, type TlsMaterial } from "../etcd/channel.ts";
import { createRpc, type Method } from "../etcd/rpc.ts";

export interface EtcdOptions {
  readonly members: 1 | 3;
  readonly tls: boolean;
  /** Holds data, logs and certificates; is made, and removed by `stop`. */
  readonly dir: string;
  /** More flags for each member. */
  readonly flags?: readonly string[];
}

export interface TlsFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface EtcdServer {
  /** One URL for each member, in the order of their numbers. */
  readonly endpoints: readonly string[];
  readonly tls: TlsFiles | undefined;
  /** The number of the member that leads now; undefined while there is none. */
  leader(): Promise<number | undefined>;
  /** SIGKILL. */
  kill(member: number): Promise<void>;
  /** SIGSTOP, and waits until every thread has stopped: connections stay open, nothing answers. */
  pause(member: number): Promise<void>;
  resume(member: number): void;
  /** Starts a killed member on its old data and ports; does not wait for it. */
  restart(member: number): void;
  /** Waits until every member answers a linearizable read. */
  healthy(): Promise<void>;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const HEALTHY_WITHIN_MS = 60_000;
const POLL_MS = 50;
const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));

/** From PATH, or from where the set-up for tests puts it; undefined if there is none. */
export function findEtcd(path = process.env.PATH ?? ""): string | undefined {
  return findProgram("etcd", [...path.split(delimiter), join(REPOSITORY, ".tools/etcd/usr/bin")]);
}

export async function startEtcd(options: EtcdOptions): Promise<EtcdServer> {
  const binary = findEtcd();
  if (binary === undefined) throw new Error("There is no etcd, neither on PATH nor in .tools/etcd.");
  const clock = realClock();
  for (let attempt = 1; ; attempt++) {
    const cluster = await Cluster.start(binary, options, clock);
    try {
      await cluster.healthy();
      return cluster;
    } catch (error) {
      await cluster.stop();
      // Ports that were free a moment ago may have been taken since.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

interface Member {
  readonly args: readonly string[];
  readonly logFile: string;
  process: ChildProcess | undefined;
}

class Cluster implements EtcdServer {
  readonly endpoints: readonly string[];
  readonly tls: TlsFiles | undefined;
  readonly #binary: string;
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #members: readonly Member[];
  readonly #rpc = createRpc();
  readonly #atExit = () => {
    for (const { process: child } of this.#members) child?.kill("SIGKILL");
  };

  static async start(binary: string, options: EtcdOptions, clock: Clock): Promise<Cluster> {
    const { dir, members: count, flags = [] } = options;
    await mkdir(dir, { recursive: true });
    const tls = options.tls ? await writeCertificates(dir, clock) : undefined;
    const scheme = tls === undefined ? "http" : "https";
    const urls = (await freePorts(2 * count)).map((port) => `${scheme}://127.0.0.1:${port}`);
    const endpoints = urls.slice(0, count);
    const peers = urls.slice(count);
    const members = endpoints.map((endpoint, i) => {
      const logFile = join(dir, `member-${i}.log`);
      const own = ["--name", `m${i}`, "--data-dir", join(dir, `member-${i}`)];
      const log = ["--logger", "zap", "--log-level", "warn", "--log-outputs", logFile];
      const clients = ["--listen-client-urls", endpoint, "--advertise-client-urls", endpoint];
      const peer = peers[i] ?? "";
      const cluster = ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster"];
      cluster.push(peers.map((url, n) => `m${n}=${url}`).join(","));
      return {
        args: [...own, ...log, ...clients, ...cluster, ...tlsFlags(tls), ...flags],
        logFile,
        process: undefined,
      };
    });
    return new Cluster(binary, dir, clock, endpoints, tls, members);
  }

  private constructor(
    binary: string,
    dir: string,
    clock: Clock,
    endpoints: readonly string[],
    tls: TlsFiles | undefined,
    members: readonly Member[],
  ) {
    this.#binary = binary;
    this.#dir = dir;
    this.#clock = clock;
    this.endpoints = endpoints;
    this.tls = tls;
    this.#members = members;
    process.once("exit", this.#atExit);
    for (const i of members.keys()) this.restart(i);
  }

  async leader(): Promise<number | undefined> {
    const answers = await Promise.all(
      this.endpoints.map((url) => this.#ask(url, this.#rpc.status, {}).catch(() => undefined)),
    );
    const leader = answers.findIndex((status) => status !== undefined && status.header?.memberId === status.leader);
    return leader === -1 ? undefined : leader;
  }

  async kill(member: number): Promise<void> {
    const child = this.#member(member).process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  async pause(member: number): Promise<void> {
    const { process } = this.#member(member);
    process?.kill("SIGSTOP");
    while (process?.pid !== undefined && !isStopped(process.pid)) await nextTurn();
  }

  resume(member: number): void {
    this.#member(member).process?.kill("SIGCONT");
  }

  restart(member: number): void {
    const entry = this.#member(member);
    const tied = findProgram("setpriv");
    // setpriv becomes etcd, after it has asked the kernel to end it with its parent.
    entry.process =
      tied === undefined
        ? spawn(this.#binary, entry.args, { stdio: "ignore" })
        : spawn(tied, ["--pdeathsig", "KILL", this.#binary, ...entry.args], { stdio: "ignore" });
  }

  async healthy(): Promise<void> {
    const deadline = this.#clock.monotonic() + HEALTHY_WITHIN_MS;
    for (const [i, url] of this.endpoints.entries()) {
      for (;;) {
        const failure = await this.#ask(url, this.#rpc.range, { key: Buffer.from([0]), countOnly: true }).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure === undefined) break;
        const { process: child, logFile } = this.#member(i);
        if (child?.exitCode !== null || this.#clock.monotonic() > deadline) {
          const log = await readFile(logFile, "utf8").catch(() => "");
          throw new Error(`etcd member ${i} at ${url} does not answer. Its log ends: ${log.slice(-1000)}`, {
            cause: failure,
          });
        }
        await this.#clock.sleep(POLL_MS);
      }
    }
  }

  async stop(): Promise<void> {
    process.removeListener("exit", this.#atExit);
    await Promise.all([...this.#members.keys()].map((i) => this.kill(i)));
    await rm(this.#dir, { recursive: true, force: true });
  }

  #member(number: number): Member {
    const member = this.#members[number];
    if (member === undefined) throw new RangeError(`There is no etcd member ${number}.`);
    return member;
  }

  /** One call on a connection of its own: what the members are asked must not depend on the code under test. */
  async #ask<Req, Res>(url: string, method: Method<Req, Res>, request: Req): Promise<Res> {
    const client = openChannel(url, this.#tlsMaterial());
    const { promise, resolve, reject } = Promise.withResolvers<Res>();
    const done = (error: ServiceError | null, answer?: Res) => {
      if (error !== null || answer === undefined) reject(error);
      else resolve(answer);
    };
    const call = client.makeUnaryRequest(method.path, method.encode, method.decode, request, done);
    const timer = this.#clock.timer(1000, () => call.cancel());
    try {
      return await promise;
    } finally {
      timer.cancel();
      client.close();
    }
  }

  #tlsMaterial(): TlsMaterial {
    if (this.tls === undefined) return {};
    const { caFile, certFile, keyFile } = this.tls;
    return { ca: readFileSync(caFile), cert: readFileSync(certFile), key: readFileSync(keyFile) };
  }
}

function findProgram(name: string, folders = (process.env.PATH ?? "").split(delimiter)): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function writeCertificates(dir: string, clock: Clock): Promise<TlsFiles> {
  const authority = await createAuthority({ commonName: "etcd-test-ca", clock });
  const usages = ["server", "client"] as const;
  const server = await authority.issue({ commonName: "etcd", ipAddresses: ["127.0.0.1"], usages });
  const client = await authority.issue({ commonName: "store", usages: ["client"] });
  const files = { caFile: join(dir, "ca.crt"), certFile: join(dir, "client.crt"), keyFile: join(dir, "client.key") };
  await Promise.all([
    writeFile(files.caFile, authority.certPem),
    writeFile(files.certFile, client.certPem),
    writeFile(files.keyFile, client.keyPem, { mode: 0o600 }),
    writeFile(join(dir, "server.crt"), server.certPem),
    writeFile(join(dir, "server.key"), server.keyPem, { mode: 0o600 }),
  ]);
  return files;
}

/** Members ask each other for certificates just as they ask clients. */
function tlsFlags(tls: TlsFiles | undefined): string[] {
  if (tls === undefined) return [];
  const file = (name: string) => tls.caFile.replace(/ca\.crt$/, name);
  return ["", "peer-"].flatMap((side) => [
    `--${side}client-cert-auth`,
    ...[`--${side}trusted-ca-file`, tls.caFile],
    ...[`--${side}cert-file`, file("server.crt")],
    ...[`--${side}key-file`, file("server.key")],
  ]);
}

/** All at once, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("A TCP server has no port.");
    return address.port;
  });
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

/** The signal reaches a busy machine's threads one by one. Where there is no /proc, it is taken to have worked. */
function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return true;
  return readdirSync(tasks).every((thread) => / [TtZX] /.test(statOf(`${tasks}/${thread}/stat`)));
}

/** A thread that has ended meanwhile counts as stopped. */
function statOf(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    return text.slice(text.lastIndexOf(")") + 1, text.lastIndexOf(")") + 4);
  } catch {
    return " X ";
  }
}
