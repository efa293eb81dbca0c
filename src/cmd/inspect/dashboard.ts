/**
 * `k8ts dashboard`: a link to the page that `k8ts up` serves. With --serve it serves a page of its own, on loopback,
 * with the credentials of a kubeconfig, until Ctrl-C.
 *
 *     k8ts up ──► startDashboard ══► dashboard.json
 *     k8ts dashboard ──► dashboard.json ──► GET <url> ──► a link that works once
 */
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Command, Option } from "commander";
import { type Clock, createLogger, type Logger, realClock } from "#base";
import { ClusterError, type DataDir, writeFileAtomic } from "#cluster";
import { type Dashboard, type DescribeCluster, type Explain, startDashboard } from "#dashboard";
import { readKubeconfig } from "#pki";
import { wholeNumber } from "../options/values.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { clustersBeside, linkOf } from "./dashboard-links.ts";
import { runningServer } from "./running-server.ts";

interface DashboardFlags extends DataDirOption {
  readonly serve?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly port?: number;
  readonly open: boolean;
}

/** Loaded when it is asked for the first time. */
const explain: Explain = async (...asked) => (await import("./why/explain.ts")).explain(...asked);

const describer =
  (dir: DataDir | undefined): DescribeCluster =>
  async (upstream) =>
    (await import("./cluster/describe.ts")).describeCluster(dir, upstream);

/** Next to the running bundle. */
const ASSETS = join(import.meta.dirname, "dashboard");

export function dashboardCommand(): Command {
  return new Command("dashboard")
    .description("print a link to the dashboard: live state, logs, YAML, permissions, and live flows")
    .addOption(dataDirOption())
    .option("--serve", "serve another one, until Ctrl-C, instead of the one that `k8ts up` serves")
    .option("--kubeconfig <file>", "with --serve: credentials to use (default: the cluster's admin)")
    .option("--context <name>", "with --serve: context of the kubeconfig (default: the current one)")
    .addOption(
      new Option("--port <port>", "with --serve: port on loopback; 0 picks a free one (default: 0)").argParser(
        wholeNumber(0, 65535),
      ),
    )
    .option("--no-open", "print the link, do not open a browser")
    .action(async (flags: DashboardFlags) => {
      if (flags.serve === true) return serve(flags);
      const { kubeconfig, context, port } = flags;
      const alone = Object.entries({ kubeconfig, context, port }).find(([, value]) => value !== undefined);
      if (alone !== undefined) throw new ClusterError(`--${alone[0]} needs --serve: \`k8ts up\` serves its dashboard.`);
      const link = await linkOf(dataDirOf(flags));
      process.stdout.write(`Dashboard: ${link}\nThe link works once.\n`);
      if (flags.open) openInBrowser(link);
    });
}

async function serve(flags: DashboardFlags): Promise<void> {
  const dashboard = await runDashboard(flags);
  const link = dashboard.newLink();
  process.stdout.write(`Dashboard: ${link}\nThe link works once. Ctrl-C ends the dashboard.\n`);
  if (flags.open) openInBrowser(link);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  await dashboard.close();
}

async function runDashboard(flags: DashboardFlags): Promise<Dashboard> {
  const { kubeconfig: file = await kubeconfigOf(dataDirOf(flags)), port = 0 } = flags;
  const upstream = () => readKubeconfig(file, flags.context === undefined ? {} : { context: flags.context });
  // Report errors here, not in the browser.
  await upstream();
  const clock = realClock();
  const log = createLogger({ clock, format: "pretty", level: "warn", write: (line) => process.stderr.write(line) });
  // Other credentials than the admin's lead nowhere else, and show nothing of this machine.
  const own = flags.kubeconfig === undefined ? dataDirOf(flags) : undefined;
  const clusters = own && clustersBeside(own);
  const parts = { clock, log, port, assets: ASSETS, upstream, explain, clusters, describeCluster: describer(own) };
  return await listening(startDashboard(parts), port);
}

async function kubeconfigOf(dir: DataDir): Promise<string> {
  await runningServer(dir);
  return dir.kubeconfig;
}

interface UpDashboardOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly port: number;
  readonly dir: DataDir;
}

/** The dashboard of `k8ts up`: if its port is in use, the cluster runs without it. */
export async function upDashboard({
  clock,
  log,
  port,
  dir,
}: UpDashboardOptions): Promise<{ readonly dashboard?: Dashboard; readonly notes: readonly string[] }> {
  try {
    const upstream = () => readKubeconfig(dir.kubeconfig);
    const clusters = clustersBeside(dir);
    const parts = { clock, log, port, assets: ASSETS, upstream, explain, clusters, describeCluster: describer(dir) };
    const dashboard = await listening(startDashboard(parts), port);
    await writeFileAtomic(dir.dashboard, `${JSON.stringify(dashboard.access)}\n`);
    const close = async () => {
      await rm(dir.dashboard, { force: true });
      await dashboard.close();
    };
    return { dashboard: { ...dashboard, close }, notes: [] };
  } catch (error) {
    return { notes: [(error as Error).message] };
  }
}

async function listening(starting: Promise<Dashboard>, port: number): Promise<Dashboard> {
  try {
    return await starting;
  } catch (error) {
    throw new ClusterError(`The dashboard cannot listen on 127.0.0.1:${port}: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

/** Only on a desktop; elsewhere the printed link is enough. */
function openInBrowser(link: string): void {
  if (!process.stdout.isTTY || (process.env.DISPLAY === undefined && process.env.WAYLAND_DISPLAY === undefined)) return;
  spawn("xdg-open", [link], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
