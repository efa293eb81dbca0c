/** An API server in memory with some admission plugins, and what they noted for audit. */
import type { Authorizer } from "../../../authz/authorizer.ts";
import { namespace, type TestServer, type TestServerOptions, testServer } from "../../../testing/index.ts";
import { mastersOnly } from "../../../testing/masters-only.ts";
import { admissionChain } from "../../chain.ts";
import { clusterView } from "../../cluster-view.ts";
import type { AdmissionPlugin } from "../../plugin.ts";
import { allPlugins } from "../../plugins.ts";

export interface DynamicServer extends TestServer {
  /** Of the last request. */
  annotations(): Readonly<Record<string, string>>;
  bodyAnnotations(): Readonly<Record<string, string>>;
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
  let noted: ReadonlyMap<string, string>[] = [new Map(), new Map()];
  const server = await testServer({
    admission: (resources, context) => {
      const services = { resources, context, authorize, requireDefaultAccount: false };
      plugins = allPlugins
        .filter(({ name }) => wanted.includes(name))
        .flatMap(({ make }) => (make === undefined ? [] : [make(services as never, undefined)]));
      return admissionChain(plugins, clusterView(resources, context));
    },
    steps: {
      audit: (exchange, next) => {
        noted = [exchange.annotations, exchange.bodyAnnotations];
        return next();
      },
      ...rest.steps,
    },
    ...rest,
  });
  await server.request("POST", "/api/v1/namespaces", { body: namespace("default", { labels: { team: "a" } }) });
  return {
    ...server,
    annotations: () => own(noted[0]),
    bodyAnnotations: () => own(noted[1]),
    close: async () => {
      for (const plugin of plugins) plugin.close?.();
      await server.close();
    },
  };
}

/** Without those of authorization. */
function own(annotations: ReadonlyMap<string, string> = new Map()): Readonly<Record<string, string>> {
  return Object.fromEntries([...annotations].filter(([key]) => !key.startsWith("authorization.k8s.io/")));
}
