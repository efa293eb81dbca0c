/** An API server in memory with some admission plugins, and the audit annotations of its last request. */
import { MetricsRegistry } from "#base";
import type { Authorizer } from "../../../authz/authorizer.ts";
import type { Authenticated } from "../../../pipeline/exchange.ts";
import { namespace, type TestServer, type TestServerOptions, testServer } from "../../../testing/index.ts";
import { mastersOnly } from "../../../testing/masters-only.ts";
import { allPlugins } from "../../all-plugins.ts";
import { admissionChain } from "../../chain/chain.ts";
import { clusterView } from "../../chain/cluster-view.ts";
import { admissionMetrics } from "../../chain/metrics.ts";
import type { AdmissionPlugin } from "../../chain/plugin.ts";
import { selectPlugins } from "../../select.ts";

export interface DynamicServer extends TestServer {
  /** Of the last request. */
  annotations(): Readonly<Record<string, string>>;
  bodyAnnotations(): Readonly<Record<string, string>>;
  /** The metrics of admission whose names begin so, without buckets and sums. */
  metrics(start: string): readonly string[];
}

export interface DynamicServerOptions extends TestServerOptions {
  /** Besides those for webhooks and policies. */
  readonly plugins?: readonly string[];
  readonly authorize?: Authorizer;
}

const DYNAMIC = [
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
];

/** There is a namespace `default`, with the label `team: a`. */
export async function dynamicServer(options: DynamicServerOptions = {}): Promise<DynamicServer> {
  const { plugins: others = [], authorize = mastersOnly, ...rest } = options;
  const wanted = [...DYNAMIC, ...others];
  let plugins: readonly AdmissionPlugin[] = [];
  let noted: Authenticated | undefined;
  const registry = new MetricsRegistry();
  const server = await testServer({
    admission: async ({ resources, storage, loopback }) => {
      const disable = allPlugins.map(({ name }) => name).filter((name) => !wanted.includes(name));
      const enable = wanted;
      const metrics = admissionMetrics(registry, storage.clock);
      plugins = await selectPlugins({ enable, disable }, { resources, storage, loopback, authorize, metrics });
      return admissionChain(plugins, clusterView(resources, storage), metrics);
    },
    steps: {
      audit: (exchange, next) => {
        noted = exchange;
        return next(exchange);
      },
      ...rest.steps,
    },
    ...rest,
  });
  await server.request("POST", "/api/v1/namespaces", { body: namespace("default", { labels: { team: "a" } }) });
  return {
    ...server,
    annotations: () => Object.fromEntries(noted?.annotations ?? []),
    bodyAnnotations: () => Object.fromEntries(noted?.bodyAnnotations ?? []),
    metrics: (start) =>
      registry
        .text()
        .split("\n")
        .filter((line) => line.startsWith(start) && !/^[^{ ]*_(bucket|sum)[{ ]/.test(line)),
    close: async () => {
      for (const plugin of plugins) plugin.close?.();
      await server.close();
    },
  };
}
