/**
 * `k8ts dashboard`: the web page of a cluster, on loopback, with the credentials of a kubeconfig. It runs until Ctrl-C.
 * `k8ts up` serves its own, with the admin's credentials.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { Command, Option } from "commander";
import { type Clock, createLogger, type Logger, realClock } from "#base";
import { ClusterError, type DataDir } from "#cluster";
import { type Dashboard, type Explain, startDashboard } from "#dashboard";
import { readKubeconfig } from "#pki";
import { wholeNumber } from "../options/values.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";
import { runningServer } from "./running-server.ts";

interface DashboardFlags extends DataDirOption {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly port: number;
  readonly open: boolean;
}

/** Loaded when it is asked for the first time. */
const explain: Explain = async (...asked) => (await import("./why/explain.ts")).explain(...asked);

/** Next to the running bundle. */
const ASSETS = join(import.meta.dirname, "dashboard");

export function dashboardCommand(): Command {
  return new Command("dashboard")
    .description("open the dashboard: live state, logs, YAML, permissions, and live flows")
    .addOption(dataDirOption())
    .option("--kubeconfig <file>", "credentials to use (default: the cluster's admin)")
    .option("--context <name>", "context of the kubeconfig (default: the current one)")
    .addOption(
      new Option("--port <port>", "port on loopback; 0 picks a free one").argParser(wholeNumber(0, 65535)).default(0),
    )
    .option("--no-open", "print the link, do not open a browser")
    .action(async (flags: DashboardFlags) => {
      const dashboard = await runDashboard(flags);
      const link = dashboard.newLink();
      process.stdout.write(`Dashboard: ${link}\nThe link works once. Ctrl-C ends the dashboard.\n`);
      if (flags.open) openInBrowser(link);
      await new Promise<void>((resolve) => {
        for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
      });
      await dashboard.close();
    });
}

async function runDashboard(flags: DashboardFlags): Promise<Dashboard> {
  const { kubeconfig: file = await kubeconfigOf(dataDirOf(flags)) } = flags;
  const upstream = () => readKubeconfig(file, flags.context === undefined ? {} : { context: flags.context });
  // Report errors here, not in the browser.
  await upstream();
  const clock = realClock();
  const log = createLogger({ clock, format: "pretty", level: "warn", write: (line) => process.stderr.write(line) });
  return await listening(
    startDashboard({ clock, log, port: flags.port, assets: ASSETS, upstream, explain }),
    flags.port,
  );
}

async function kubeconfigOf(dir: DataDir): Promise<string> {
  await runningServer(dir);
  return dir.kubeconfig;
}

interface UpDashboardOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly port: number;
  readonly kubeconfig: string;
}

/** The dashboard of `k8ts up`: if its port is in use, the cluster runs without it. */
export async function upDashboard({
  clock,
  log,
  port,
  kubeconfig,
}: UpDashboardOptions): Promise<{ readonly dashboard?: Dashboard; readonly notes: readonly string[] }> {
  try {
    const upstream = () => readKubeconfig(kubeconfig);
    return {
      dashboard: await listening(startDashboard({ clock, log, port, assets: ASSETS, upstream, explain }), port),
      notes: [],
    };
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
