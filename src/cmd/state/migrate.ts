/** `k8ts migrate --to etcd|embedded`: moves the state of a stopped cluster to another store. */
import { Command, Option } from "commander";
import { type Clock, createLogger, type Logger, realClock } from "#base";
import { ClusterError, etcdTools, openDataDir, type StoreConfig } from "#cluster";
import { type EtcdOptions, etcdOptions, etcdStore, isAboutEtcd } from "../options/api-server/etcd.ts";
import { type DataDirOption, dataDirOf, dataDirOption } from "../options/which-cluster.ts";

interface MigrateOptions extends DataDirOption, EtcdOptions {
  readonly to: "etcd" | "embedded";
}

const REPORT_EVERY = 10_000;

export function migrateCommand(): Command {
  const command = new Command("migrate")
    .description("move the state of a stopped cluster from its embedded store to etcd, or back")
    .addOption(
      new Option("--to <store>", "etcd without --etcd-servers: a member that k8ts runs")
        .choices(["etcd", "embedded"])
        .makeOptionMandatory(),
    )
    .addOption(dataDirOption());
  // Compaction is a matter of running servers.
  for (const option of etcdOptions().filter(({ long }) => long !== "--etcd-compaction-interval"))
    command.addOption(option);
  return command.action(async (options: MigrateOptions) => {
    const dir = dataDirOf(options);
    const to = targetOf(options);
    const clock = realClock();
    const lock = await openDataDir(dir);
    try {
      const { migrate } = await etcdTools();
      const startMs = clock.monotonic();
      const onProgress = (written: number, of: number) => {
        if (written % REPORT_EVERY === 0 && written < of) process.stdout.write(`  ${written} of ${of} objects\n`);
      };
      const { objects, revision } = await migrate(dir, to, { clock, log: warnings(clock), onProgress });
      const seconds = ((clock.monotonic() - startMs) / 1000).toFixed(1);
      process.stdout.write(
        `Moved ${objects} objects to ${to.kind === "etcd" ? "etcd" : "the embedded store"} in ${seconds} s, at revision ${revision}. \`k8ts up\` starts from there.\n`,
      );
    } finally {
      lock.release();
    }
  });
}

function targetOf(options: MigrateOptions): StoreConfig {
  if (options.to === "embedded") {
    if (isAboutEtcd(options)) throw new ClusterError("--etcd-servers and the other flags of etcd require --to etcd.");
    return { kind: "embedded" };
  }
  if (options.etcdServers !== undefined) return etcdStore(options, "");
  const { etcdPrefix: prefix } = options;
  if (options.etcdCafile ?? options.etcdCertfile ?? options.etcdKeyfile)
    throw new ClusterError("--etcd-cafile, --etcd-certfile and --etcd-keyfile belong to --etcd-servers.");
  return { kind: "etcd", endpoints: [], managed: {}, prefix };
}

function warnings(clock: Clock): Logger {
  return createLogger({ clock, format: "pretty", level: "warn", write: (line) => process.stderr.write(line) });
}
