/** `k8ts ingress`: the ingress controller of class k8ts, over HTTP and HTTPS. Several may run; all of them serve. */
import { Command, Option } from "commander";
import { ClusterError, type Component, runComponent, type Work } from "#cluster";
import { createAuthority } from "#pki";
import { type ComponentOptions, componentFrom, componentOptions } from "../options/component.ts";
import { type LoggingFlagOptions, loggingFrom, loggingOptions } from "../options/logging.ts";
import { boolean, milliseconds, wholeNumber } from "../options/values.ts";
import { type ComponentEnvironment, runUntilSignalled } from "../process/run-component.ts";

const NAME = "k8ts-ingress";
const HEALTH_PORT = 10_260;

interface IngressFlags extends ComponentOptions, LoggingFlagOptions {
  readonly address: string;
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly ingressClass: string;
  readonly controllerClass: string;
  readonly publishStatusAddress?: readonly string[];
  readonly publishService?: string;
  readonly localHosts: boolean;
  readonly useForwardedHeaders: boolean;
  readonly maxBodyBytes?: number;
  readonly shutdownGracePeriod: number;
}

export function ingressCommand(): Command {
  const list = (value: string) => value.split(",").map((each) => each.trim());
  const port = (flag: string, of: string, standard: number) =>
    new Option(`--${flag} <port>`, `${of}; 0: none`).argParser(wholeNumber(0, 65_535)).default(standard);
  const command = new Command("ingress")
    .description("run the ingress controller of class k8ts")
    .addOption(new Option("--address <ip>", "address to serve HTTP and HTTPS on").default("0.0.0.0"))
    .addOption(port("http-port", "HTTP port", 80))
    .addOption(port("https-port", "HTTPS port", 443))
    .addOption(new Option("--ingress-class <name>", "name of the IngressClass, created if missing").default("k8ts"))
    .addOption(
      new Option("--controller-class <name>", "controller name of the IngressClasses to serve").default(
        "k8ts.dev/ingress",
      ),
    )
    .addOption(
      new Option("--publish-status-address <addresses>", "addresses to publish in the status of Ingresses").argParser(
        list,
      ),
    )
    .option("--publish-service <namespace/name>", "publish the load balancer addresses of this Service instead")
    .addOption(
      new Option("--local-hosts [bool]", "serve each Ingress also at NAME.NAMESPACE.localhost")
        .preset("true")
        .argParser(boolean)
        .default(false),
    )
    .addOption(
      new Option("--use-forwarded-headers [bool]", "trust X-Forwarded-* headers of clients")
        .preset("true")
        .argParser(boolean)
        .default(false),
    )
    .addOption(
      new Option("--max-body-bytes <bytes>", "maximum size of a request body").argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    )
    .addOption(
      new Option("--shutdown-grace-period <duration>", "how long active requests may continue after a stop signal")
        .argParser(milliseconds)
        .default(30_000, "30s"),
    )
    .action(run);
  const shared = componentOptions({ name: NAME, port: HEALTH_PORT });
  const own = shared.filter(({ long }) => !long?.startsWith("--leader-elect"));
  for (const option of [...own, ...loggingOptions()]) command.addOption(option);
  return command;
}

async function run(flags: IngressFlags): Promise<void> {
  const component = { ...componentFrom({ ...flags, leaderElect: false }), name: NAME };
  const work = async (environment: ComponentEnvironment, signal: AbortSignal) => {
    const { runIngress } = await import("#network");
    const authority = await createAuthority({ commonName: `${NAME}-ca`, clock: environment.clock });
    // For host names without a certificate: with a self-signed one, browsers can at least name the host.
    const defaultCertificate = await authority.issue({
      commonName: "ingress.local",
      dnsNames: ["ingress.local"],
      usages: ["server"],
    });
    const prepare = ({ client, clock, random, log, metrics }: Component): Work => {
      const options = {
        ...{ client, clock, random, log, metrics, defaultCertificate },
        address: flags.address,
        ...(flags.httpPort !== 0 && { httpPort: flags.httpPort }),
        ...(flags.httpsPort !== 0 && { httpsPort: flags.httpsPort }),
        className: flags.ingressClass,
        controller: flags.controllerClass,
        ensuresClass: true,
        publishedAddresses: flags.publishStatusAddress ?? [],
        publishedService: flags.publishService,
        localHosts: flags.localHosts,
        trustsForwarded: flags.useForwardedHeaders,
        maxBodyBytes: flags.maxBodyBytes,
        drainMs: flags.shutdownGracePeriod,
        onReady: (ports: object) => log.info("serving Ingresses", { address: flags.address, ...ports }),
      };
      return (running) => runIngress(options, running).catch(portTaken);
    };
    await runComponent(component, environment, prepare, signal);
  };
  await runUntilSignalled([], work, loggingFrom(flags));
}

/** Errors that a user can fix become one sentence. */
function portTaken(error: unknown): never {
  const { code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL") throw error;
  const advice = "choose others with --address, --http-port and --https-port";
  throw new ClusterError(`Cannot listen on port ${port} (${code}): ${advice}.`, { cause: error });
}
