/** `k8ts dns`: the cluster's DNS server alone. */
import { Command } from "commander";
import { ClusterError, runStandaloneDns } from "#cluster";
import { type DnsFlagOptions, dnsFrom, dnsOptions } from "../options/dns.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { runUntilSignalled } from "../process/run-component.ts";

export function dnsCommand(): Command {
  const command = new Command("dns")
    .description("run only the cluster's DNS server")
    .option("--kubeconfig <file>", "kubeconfig with the API server's address and credentials")
    .action(async (options: DnsFlagOptions & LoggingFlagOptions & { readonly kubeconfig?: string }) => {
      const { kubeconfig, clusterDns = ["127.0.0.1"] } = options;
      if (kubeconfig === undefined)
        throw new ClusterError("--kubeconfig is required: it has the API server's address and credentials.");
      const dns = dnsFrom(options, clusterDns);
      await runUntilSignalled(
        [],
        (environment, signal) => runStandaloneDns({ kubeconfig }, dns, environment, signal),
        loggingFrom(options),
      );
    });
  for (const option of [...dnsOptions(), ...loggingOptions()]) command.addOption(option);
  return command;
}
