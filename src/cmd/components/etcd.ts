/**
 * `k8ts etcd`: stands in for etcd where a test framework starts one for our API server. `bin/etcd` runs it.
 *
 * 1. A flag of etcd that would matter to somebody else than our API server is unknown here.
 */
import { Command, Option } from "commander";
import { ClusterError, runEtcdStandIn, type StandInConfig } from "#cluster";
import { envtestFrom } from "../options/envtest.ts";
import { names, notesOnFlags, type OriginalFlags, originalFlags } from "../options/upstream-flags.ts";
import { boolean } from "../options/values.ts";
import { parentEnded } from "../process/parent.ts";
import { runUntilSignalled } from "../process/run-component.ts";

export interface EtcdOptions {
  readonly dataDir: string;
  readonly listenClientUrls: readonly string[];
  readonly unsafeNoFsync: boolean;
}

const ORIGINAL: OriginalFlags = {
  component: "this stand-in for etcd",
  withoutEffect: names(`
    name advertise-client-urls listen-peer-urls initial-advertise-peer-urls initial-cluster initial-cluster-state
    initial-cluster-token snapshot-count heartbeat-interval election-timeout quota-backend-bytes max-request-bytes max-txn-ops
    auto-compaction-mode auto-compaction-retention logger log-level log-outputs debug max-snapshots max-wals wal-dir
    listen-metrics-urls metrics enable-v2 strict-reconfig-check pre-vote backend-batch-limit backend-batch-interval`),
  refused: names(`
    cert-file key-file client-cert-auth trusted-ca-file auto-tls peer-cert-file peer-key-file peer-client-cert-auth
    peer-trusted-ca-file peer-auto-tls discovery discovery-srv proxy gateway config-file auth-token`),
};

export function etcdCommand(): Command {
  const command = new Command("etcd")
    .description("stand in for etcd in tests: only the kube-apiserver of k8ts can use it")
    .option("--data-dir <dir>", "folder in which the API server keeps its store", "default.etcd")
    .addOption(
      new Option("--listen-client-urls <urls>", "addresses to answer at, comma-separated")
        .argParser(urls)
        .default(["http://localhost:2379"], "http://localhost:2379"),
    )
    .addOption(
      new Option("--unsafe-no-fsync [bool]", "do not wait for the disk: what is written survives processes only")
        .preset("true")
        .argParser(boolean)
        .default(false),
    )
    .action(async (options: EtcdOptions) => {
      const { endsWithParent } = envtestFrom(process.env);
      await runUntilSignalled(notesOnFlags(command, ORIGINAL), async ({ clock, log }, signal) => {
        const ending = new AbortController();
        const either = AbortSignal.any([signal, ending.signal]);
        if (endsWithParent)
          parentEnded(clock, either).then((ended) => {
            if (ended) ending.abort(new Error("the parent process has ended"));
          }, ending.abort);
        const ready = () => log.info("standing in for etcd", { at: options.listenClientUrls });
        await runEtcdStandIn(standInConfig(options), ready, either);
      });
    });
  for (const option of originalFlags(ORIGINAL)) command.addOption(option);
  return command;
}

export function standInConfig({ dataDir, listenClientUrls, unsafeNoFsync }: EtcdOptions): StandInConfig {
  return { dataDir, listenUrls: listenClientUrls, flush: !unsafeNoFsync };
}

function urls(text: string): readonly string[] {
  const all = text.split(",").map((each) => each.trim());
  for (const each of all)
    if (!URL.canParse(each))
      throw new ClusterError(`--listen-client-urls: "${each}" is not a URL like http://127.0.0.1:2379.`);
  return all;
}
