/** Custom and external metrics in a process of their own, like prometheus-adapter: configured by flags and files. */
import type { RequestTarget } from "#base";
import type { Environment } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { followFile, readFlag } from "../config/flag-files.ts";
import { type Component, type ComponentConfig, runComponent, type Work } from "./component.ts";
import type { ComponentServing } from "./component-server.ts";
import type { Attributes } from "./delegated-access.ts";
import { frontProxyOf, serveExtension } from "./extension-server.ts";

const NAME = "metrics-adapter";
const UNREGISTER_MS = 5_000;

export interface StandaloneMetricsAdapterConfig extends Omit<ComponentConfig, "name" | "serving" | "election"> {
  readonly serving: ComponentServing;
  /** The file with the rules. */
  readonly configFile: string;
  /** Undefined: scripted values only. */
  readonly prometheus: PrometheusFlags | undefined;
  readonly relistMs: number;
  readonly maxAgeMs?: number | undefined;
  /** The host at which the API server reaches this process. Undefined: APIServices are somebody else's work. */
  readonly registerAs?: string | undefined;
}

export interface PrometheusFlags {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly caFile?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly timeoutMs: number;
}

/** Runs until the signal aborts. */
export async function runStandaloneMetricsAdapter(
  config: StandaloneMetricsAdapterConfig,
  { clock, log }: Pick<Environment, "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const { MetricsAdapter, PrometheusClient, parseAdapterConfig, registerAdapter } = await import("#metrics");
  const { serving, configFile, prometheus: flags, relistMs, maxAgeMs, registerAs, ...component } = config;
  const read = (text: string) => {
    try {
      return parseAdapterConfig(text);
    } catch (error) {
      throw new ClusterError(`--config ${configFile}: ${(error as Error).message}.`, { cause: error });
    }
  };
  const text = await readFlag("--config", configFile);
  let rules = read(text);
  if (flags === undefined && rules.rules.length + rules.externalRules.length > 0)
    throw new ClusterError(`--prometheus-url is required: ${configFile} has rules about series of Prometheus.`);
  const ca = flags?.caFile === undefined ? undefined : await readFlag("--prometheus-ca-file", flags.caFile);
  let token =
    flags?.tokenFile === undefined ? undefined : (await readFlag("--prometheus-token-file", flags.tokenFile)).trim();
  const prepare = ({ client, metrics }: Component): Work => {
    return async (running) => {
      await using parts = new AsyncDisposableStack();
      const { url, method, timeoutMs } = flags ?? {};
      const prometheus =
        url === undefined || method === undefined || timeoutMs === undefined
          ? undefined
          : new PrometheusClient({ url, method, timeoutMs, clock, ca, token: () => token });
      parts.defer(() => prometheus?.close());
      const frontProxy = await frontProxyOf({ client, clock, log }, running);
      if (frontProxy === undefined) return;
      const adapter = new MetricsAdapter({ client, config: () => rules, prometheus, relistMs, maxAgeMs, clock, log });
      const readiness = [
        {
          name: "metrics-listed",
          check: async () => {
            if (!adapter.isReady) throw new Error("the metrics have not been listed yet");
          },
        },
      ];
      const answering = { name: NAME, client, metrics, clock, log, readiness, frontProxy, attributesOf };
      const served = await serveExtension(serving, { ...answering, answer: (request) => adapter.answer(request) });
      parts.defer(() => served.close());
      log.info("serving custom and external metrics", { address: serving.bindAddress, port: served.port });
      const follow = followed(configFile, text, (next) => {
        rules = read(next);
      });
      const followToken = followed(flags?.tokenFile, token, (next) => {
        token = next.trim();
      });
      if (registerAs !== undefined) {
        const unregister = await registerAdapter(client, { host: registerAs, port: served.port }, { signal: running });
        parts.defer(() => unregister({ timeoutMs: UNREGISTER_MS }));
      }
      await Promise.all([adapter.run(running), follow(running), followToken(running)]);
    };
  };
  const followed =
    (file: string | undefined, known: string | undefined, changed: (text: string) => void) =>
    async (running: AbortSignal): Promise<void> => {
      if (file === undefined) return;
      const failed = (error: unknown) => log.error("a changed file is not used", { file, error });
      await followFile(file, { clock, signal: running, known: known ?? "", changed, failed });
    };
  await runComponent({ ...component, name: NAME }, { clock, log }, prepare, signal);
}

const PATH =
  /^\/apis\/(?<group>custom|external)\.metrics\.k8s\.io\/(?<version>[^/]+)\/(?:namespaces\/(?<namespace>[^/]+)\/)?(?<resource>[^/]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>[^/]+))?)?$/;

/** What the caller must be allowed to do. */
export function attributesOf(method: string, { path }: RequestTarget): Attributes {
  const { group, version = "", namespace, resource = "", name, subresource } = PATH.exec(path)?.groups ?? {};
  if (group === undefined) return { path, verb: method.toLowerCase() };
  const isRead = method === "GET" || method === "HEAD";
  const verb = isRead ? (name === undefined ? "list" : "get") : method.toLowerCase();
  return {
    group: `${group}.metrics.k8s.io`,
    version,
    resource,
    verb,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  };
}
