/**
 * `k8ts up --systemd`: a unit of systemd that runs the same `up` at every boot: for root one of the system, else one of
 * the user. `--systemd=remove`, or `k8ts down --systemd`, takes it away.
 *
 *     up … --systemd ──► what runs is stopped ──► unit file ──► systemctl daemon-reload ──► systemctl enable --now
 *     down --systemd ──► systemctl disable --now ──► unit file removed ──► systemctl daemon-reload
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { realClock } from "#base";
import { ClusterError, commandFor, contextName, type DataDir } from "#cluster";
import { ownArguments } from "../process/own-arguments.ts";
import { stopRunning } from "./stop-running.ts";

const STOP_MS = 30_000;

export interface Systemd {
  /** Of the system, not of the user. */
  readonly isSystem: boolean;
  readonly folder: string;
  /** Runs systemctl; returns what it printed to its errors if it failed. */
  readonly systemctl: (...args: readonly string[]) => string | undefined;
}

/** Throws ClusterError where systemd does not run. */
export function ownSystemd(env: NodeJS.ProcessEnv = process.env): Systemd {
  // As sd_booted(3) tells.
  if (!existsSync("/run/systemd/system"))
    throw new ClusterError(
      "systemd does not run on this machine: start `k8ts up --detach` by its init system instead.",
    );
  const isSystem = process.getuid?.() === 0;
  const config = env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return {
    isSystem,
    folder: isSystem ? "/etc/systemd/system" : join(config, "systemd", "user"),
    systemctl: (...args) => {
      const { status, stderr, error } = spawnSync("systemctl", [...(isSystem ? [] : ["--user"]), ...args], {
        encoding: "utf8",
      });
      if (status === 0) return undefined;
      return error?.message ?? (stderr.trim() || `it ended with code ${status}`);
    },
  };
}

export function unitName(dir: DataDir): string {
  return `${contextName(dir.name)}.service`;
}

interface UnitOptions {
  readonly dir: DataDir;
  /** The program and its arguments: those of this `up`. */
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Where paths of flags start. */
  readonly cwd: string;
  readonly isSystem: boolean;
}

const KEPT = ["HOME", "K8TS_HOME", "K8TS_OUTSIDE", "KUBECONFIG", "PATH", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/** Nodes outlive the process, as with every other `up`: only that one process is systemd's. */
export function unitText({ dir, command, env, cwd, isSystem }: UnitOptions): string {
  const kept = KEPT.flatMap((name) => (env[name] ? [`Environment=${quoted(`${name}=${env[name]}`)}`] : []));
  return [
    "[Unit]",
    `Description=k8ts cluster ${dir.name ?? dir.path}`,
    ...(isSystem ? ["Wants=network-online.target", "After=network-online.target"] : []),
    "",
    "[Service]",
    `ExecStart=${command.map(quoted).join(" ")}`,
    `WorkingDirectory=${cwd.replaceAll("%", "%%")}`,
    ...kept,
    "KillMode=process",
    "Restart=on-failure",
    "TimeoutStopSec=60",
    "",
    "[Install]",
    `WantedBy=${isSystem ? "multi-user" : "default"}.target`,
    "",
  ].join("\n");
}

/** As in systemd.syntax(7): specifiers and variables stand for themselves. */
function quoted(word: string): string {
  const plain = word.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@:,./=+-]+$/.test(plain) ? plain : `"${plain.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** What was done, as lines. */
export function installUnit(dir: DataDir, text: string, systemd: Systemd): readonly string[] {
  const name = unitName(dir);
  const file = join(systemd.folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o644 });
  for (const args of [["daemon-reload"], ["enable", "--now", name]]) {
    const problem = systemd.systemctl(...args);
    if (problem !== undefined)
      throw new ClusterError(`${file} is written, but systemctl ${args.join(" ")} failed: ${problem}.`);
  }
  const user = systemd.isSystem ? "" : " --user";
  return [
    `Wrote ${file}.`,
    `Enabled and started ${name}: it starts at every ${systemd.isSystem ? "boot" : "login (or boot, after `loginctl enable-linger`)"}.`,
    `Look at it: systemctl${user} status ${name}; journalctl${user} -u ${name}`,
    `Take it away: ${commandFor(dir, "down")} --systemd`,
  ];
}

export function removeUnit(dir: DataDir, systemd: Systemd): readonly string[] {
  const name = unitName(dir);
  const file = join(systemd.folder, name);
  if (!existsSync(file)) return [`There is no ${file}.`];
  const problem = systemd.systemctl("disable", "--now", name);
  if (problem !== undefined) throw new ClusterError(`systemctl disable --now ${name} failed: ${problem}.`);
  rmSync(file);
  systemd.systemctl("daemon-reload");
  return [`Stopped and disabled ${name}.`, `Removed ${file}.`];
}

/**
 * `args`: those of the unit's command. Default: the command line's own, without the flags about systemd. What runs in
 * the directory is stopped first, without its nodes: it is systemd that runs it from now on.
 */
export async function underSystemd(dir: DataDir, what: "install" | "remove", args = ownArguments()): Promise<void> {
  const systemd = ownSystemd();
  const command = [process.execPath, ...process.execArgv, process.argv[1] ?? "", ...args];
  const text = unitText({ dir, command, env: process.env, cwd: process.cwd(), isSystem: systemd.isSystem });
  if (what === "install") await stopRunning(dir, STOP_MS, realClock());
  const done = what === "remove" ? removeUnit(dir, systemd) : installUnit(dir, text, systemd);
  process.stdout.write(done.map((line) => `${line}\n`).join(""));
}
