/**
 * The etcd member of this machine: a child process of ours, with mutual TLS, that is started again when it ends.
 *
 *     up --store etcd ──► program ──► certificates ──► etcd (data-dir/etcd/data) ──► healthy ──► store
 *
 * 1. It ends with this process, however that ends: a second start never meets the first one's.
 * 2. It is stopped by SIGTERM, so that its log is complete; what it acknowledged is on disk in any case.
 * 3. Its output goes to data-dir/etcd/etcd.log. What it says last is part of the error when it cannot start.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, statSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import { Backoff, type Clock, type Logger, type Random, TaskGroup } from "#base";
import { type EtcdPki, ensureEtcdPki } from "#pki";
import { type EtcdMembers, type EtcdTlsFiles, openEtcdMembers } from "#store";
import { ClusterError } from "../config/errors.ts";
import { findProgram } from "../nodes/machine/command.ts";
import { etcdProgram } from "./program.ts";
import {
  type MemberPaths,
  type MemberRecord,
  memberPaths,
  newMember,
  readMember,
  urlOf,
  writeMember,
} from "./record.ts";

const RESTART = { initialMs: 100, maxMs: 10_000 };
const RESTART_QUIET_MS = 60_000;
const START_MS = 60_000;
const STOP_MS = 10_000;
const POLL_MS = 50;
const MAX_LOG_BYTES = 10_000_000;

export interface EtcdMemberOptions {
  /** `etcd` of the data directory. */
  readonly dir: string;
  /** That of the cluster's certificates. */
  readonly pkiDir: string;
  readonly name: string;
  /** Where other machines reach it. Default: loopback. */
  readonly address?: string | undefined;
  /** A member that joins, of `joiningMember`. Default: that of the last start, or a new cluster. */
  readonly record?: MemberRecord | undefined;
  /** Keeps the data, and makes this member the only one: for a quorum that is lost for good. */
  readonly forceNewCluster?: boolean | undefined;
  /** It runs on one core, and takes requests in nearly the order of their arrival: see `putInOrder` of the store. */
  readonly ordered?: boolean | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface EtcdMember {
  readonly record: MemberRecord;
  readonly clientUrl: string;
  readonly peerUrl: string;
  /** Of the API server, for all members. */
  readonly tls: EtcdTlsFiles;
  /** The process, while it runs. */
  readonly pid: number | undefined;
  /** To be closed by the caller. */
  members(): Promise<EtcdMembers>;
  stop(): Promise<void>;
}

/** Resolves when it answers: a learner is not healthy yet, but has its data coming. */
export async function startEtcdMember(options: EtcdMemberOptions): Promise<EtcdMember> {
  const { dir, pkiDir, name, address = "127.0.0.1", clock, log } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const paths = memberPaths(dir);
  const program = await etcdProgram(paths.program, (text) => log.info(text));
  const record = options.record ?? (await readMember(paths)) ?? (await newMember(name, address));
  const names = {
    dnsNames: ["localhost", record.name],
    ipAddresses: [...new Set(["127.0.0.1", "::1", record.address])],
  };
  const pki = await ensureEtcdPki(pkiDir, { clock, memberName: record.name, serverNames: names, log });
  await writeMember(paths, record);
  const member = new Member(program, record, paths, pki, options);
  try {
    await member.ready();
    return member;
  } catch (error) {
    await member.stop();
    throw error;
  }
}

export function clientTls(pki: EtcdPki): EtcdTlsFiles {
  return { caFile: `${pki.ca}.crt`, certFile: `${pki.apiserverClient}.crt`, keyFile: `${pki.apiserverClient}.key` };
}

class Member implements EtcdMember {
  readonly record: MemberRecord;
  readonly tls: EtcdTlsFiles;
  readonly clientUrl: string;
  readonly peerUrl: string;
  readonly #program: string;
  readonly #args: readonly string[];
  readonly #paths: MemberPaths;
  readonly #options: EtcdMemberOptions;
  readonly #tasks: TaskGroup;
  #child: ChildProcess | undefined;
  #ends = 0;
  #forceNewCluster: boolean;

  constructor(program: string, record: MemberRecord, paths: MemberPaths, pki: EtcdPki, options: EtcdMemberOptions) {
    this.record = record;
    this.tls = clientTls(pki);
    this.clientUrl = urlOf(record.address, record.clientPort);
    this.peerUrl = urlOf(record.address, record.peerPort);
    this.#program = program;
    this.#args = flagsOf(record, paths, pki);
    this.#paths = paths;
    this.#options = options;
    this.#forceNewCluster = options.forceNewCluster ?? false;
    this.#tasks = new TaskGroup();
    this.#tasks.run("etcd", (signal) => this.#supervise(signal));
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  members(): Promise<EtcdMembers> {
    return openEtcdMembers({ endpoints: [this.clientUrl, ...(this.record.others ?? [])], tls: this.tls });
  }

  async ready(): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.monotonic() + START_MS;
    const members = await this.members();
    try {
      for (;;) {
        const found = await members.list().catch(() => []);
        const own = found.find(({ peerUrls }) => peerUrls.includes(this.peerUrl));
        // While too few members run, there is no leader: then it is up all the same, and the store waits.
        if (own !== undefined && (own.healthy || own.isLearner || found.length > 1)) return;
        if (this.#ends > 2 || clock.monotonic() >= deadline)
          throw new ClusterError(`etcd does not start: ${await this.#lastWords()} Its log: ${this.#paths.log}.`);
        await clock.sleep(POLL_MS);
      }
    } finally {
      await members.close();
    }
  }

  async stop(): Promise<void> {
    await this.#tasks.stop();
  }

  /** Until the signal aborts. */
  async #supervise(signal: AbortSignal): Promise<void> {
    const { clock, random, log } = this.#options;
    const backoff = new Backoff(RESTART, random, { ms: RESTART_QUIET_MS, clock });
    while (!signal.aborted) {
      const child = await this.#spawn();
      const exited = once(child, "exit");
      const onAbort = () => child.kill("SIGTERM");
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      const [code, by] = (await this.#exit(child, exited, signal)) as [number | null, NodeJS.Signals | null];
      signal.removeEventListener("abort", onAbort);
      this.#child = undefined;
      if (signal.aborted) return;
      this.#ends++;
      log.warn("etcd has ended and is started again", { code, signal: by });
      await clock.sleep(backoff.next(), signal);
    }
  }

  /** One that does not end in time is killed: its data survive that. */
  async #exit(child: ChildProcess, exited: Promise<unknown[]>, signal: AbortSignal): Promise<unknown[]> {
    const { clock } = this.#options;
    let timer: ReturnType<Clock["timer"]> | undefined;
    const late = () => {
      timer = clock.timer(STOP_MS, () => child.kill("SIGKILL"));
    };
    signal.addEventListener("abort", late, { once: true });
    if (signal.aborted) late();
    try {
      return await exited;
    } finally {
      signal.removeEventListener("abort", late);
      timer?.cancel();
    }
  }

  async #spawn(): Promise<ChildProcess> {
    const { log: file } = this.#paths;
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) await rename(file, `${file}.old`);
    const output = openSync(file, "a", 0o600);
    try {
      const args = this.#forceNewCluster ? [...this.#args, "--force-new-cluster"] : this.#args;
      // Once it has done so, it must not do so again: members that joined since would be lost.
      this.#forceNewCluster = false;
      const tied = findProgram("setpriv");
      const [program, all] =
        tied === undefined ? [this.#program, args] : [tied, ["--pdeathsig", "TERM", this.#program, ...args]];
      // setpriv becomes etcd, after it has asked the kernel to end it with its parent.
      const env = this.#options.ordered ? { ...process.env, GOMAXPROCS: "1" } : process.env;
      const child = spawn(program, all, { stdio: ["ignore", output, output], cwd: "/", env });
      this.#child = child;
      await once(child, "spawn");
      return child;
    } finally {
      closeSync(output);
    }
  }

  async #lastWords(): Promise<string> {
    const text = await readFile(this.#paths.log, "utf8").catch(() => "");
    const lines = text.trim().split("\n");
    const line = lines.findLast((each) => /"level":"(fatal|error|panic)"/.test(each)) ?? lines.at(-1) ?? "";
    try {
      const { msg, error } = JSON.parse(line) as { msg?: string; error?: string };
      return `${[msg, error].filter((part) => part !== undefined).join(": ")}.`;
    } catch {
      return line === "" ? "it says nothing." : `${line}.`;
    }
  }
}

function flagsOf(record: MemberRecord, { data }: MemberPaths, pki: EtcdPki): readonly string[] {
  const client = urlOf(record.address, record.clientPort);
  const peer = urlOf(record.address, record.peerPort);
  const local = urlOf("127.0.0.1", record.clientPort);
  const flags: Readonly<Record<string, string>> = {
    name: record.name,
    "data-dir": data,
    "listen-client-urls": [...new Set([client, local])].join(","),
    "advertise-client-urls": client,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": record.initialCluster,
    "initial-cluster-state": record.initialClusterState,
    "initial-cluster-token": "k8ts",
    "client-cert-auth": "true",
    "trusted-ca-file": `${pki.ca}.crt`,
    "cert-file": `${pki.server}.crt`,
    "key-file": `${pki.server}.key`,
    "peer-client-cert-auth": "true",
    "peer-trusted-ca-file": `${pki.ca}.crt`,
    "peer-cert-file": `${pki.peer}.crt`,
    "peer-key-file": `${pki.peer}.key`,
    // A member that comes back from a partition must not force an election.
    "pre-vote": "true",
    "strict-reconfig-check": "true",
    "snapshot-count": "10000",
    "quota-backend-bytes": `${8 * 1024 ** 3}`,
    logger: "zap",
    "log-level": "warn",
    "log-outputs": "stderr",
  };
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}
