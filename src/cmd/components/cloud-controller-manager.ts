/**
 * `k8ts cloud-controller-manager`: the controllers of a cloud provider. The only provider so far is this machine: its
 * load balancers are addresses from a pool.
 */
import { hostname } from "node:os";
import { Command, Option } from "commander";
import { ClusterError, type Component, runComponent, type Work } from "#cluster";
import { type ComponentOptions, componentFrom, componentOptions } from "../options/component.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { runUntilSignalled } from "../process/run-component.ts";

const NAME = "cloud-controller-manager";
/** Reserved for documentation (RFC 5737): not in use on any real network. */
const POOL = "203.0.113.16/28";

interface CloudOptions extends ComponentOptions, LoggingFlagOptions {
  readonly loadBalancerAddresses: readonly string[];
  readonly loadBalancerClass?: string;
}

export function cloudControllerManagerCommand(): Command {
  const list = (value: string) => value.split(",").map((each) => each.trim());
  const command = new Command(NAME)
    .description("run only the cloud controllers: load balancers for Services")
    .addOption(new Option("--cloud-provider <name>", "cloud provider").choices(["local"]).default("local"))
    .addOption(
      new Option("--load-balancer-addresses <ranges>", "IP ranges for Services of type LoadBalancer")
        .argParser(list)
        .default([POOL], POOL),
    )
    .option("--load-balancer-class <class>", "loadBalancerClass to serve, besides Services without one")
    .action(run);
  for (const option of [...componentOptions({ name: NAME, port: 10_258 }), ...loggingOptions()])
    command.addOption(option);
  return command;
}

async function run(flags: CloudOptions): Promise<void> {
  const component = { ...componentFrom(flags), name: NAME };
  const { AddressPoolError, cloudControllers, localCloud } = await import("#cloud");
  const { controllerMetrics, runControllers } = await import("#controllers");
  const cloud = () => {
    try {
      return localCloud({ addresses: flags.loadBalancerAddresses });
    } catch (error) {
      if (!(error instanceof AddressPoolError)) throw error;
      throw new ClusterError(`--load-balancer-addresses: ${error.message}.`, { cause: error });
    }
  };
  cloud(); // reports wrong flags before anything starts
  const { loadBalancerClass } = flags;
  const prepare = ({ client, clock, random, log, metrics }: Component): Work => {
    const options = {
      ...{ client, clock, random, log, clientOf: () => client },
      instance: hostname(),
      metrics: controllerMetrics(metrics, { manager: "cloud-controller-manager" }),
    };
    // A re-elected leader starts with an empty pool state: another leader may have assigned addresses meanwhile.
    return (running) => {
      const controllers = cloudControllers(cloud(), loadBalancerClass === undefined ? {} : { loadBalancerClass });
      return runControllers({ ...options, controllers }, running);
    };
  };
  const logging = loggingFrom(flags);
  await runUntilSignalled([], (environment, signal) => runComponent(component, environment, prepare, signal), logging);
}
