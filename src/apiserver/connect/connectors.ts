/** The table of everything that the API answers without storing an object of its own. */
import type { core, Kind } from "#api";
import type { TokenIssuer } from "../authn/service-account/issuer.ts";
import type { TokenAuthenticator } from "../authn/verdict.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import { admissionAttributes } from "../rest/request-parts.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { bindPod } from "./binding.ts";
import { components } from "./component-probes.ts";
import { componentStatuses } from "./component-statuses.ts";
import { connectOptions } from "./connect-options.ts";
import type { Connector } from "./connector.ts";
import { evictPod } from "./eviction.ts";
import type { Target } from "./forward.ts";
import type { KubeletReach, PodConnections, SimulatedMetrics } from "./kubelet-target.ts";
import { podLog } from "./pod-log.ts";
import { podStream } from "./pod-streams.ts";
import { nodeProxy, podProxy, serviceProxy } from "./proxy.ts";
import { type ReviewOptions, reviews } from "./reviews.ts";
import { tokenRequest } from "./token-request.ts";

export interface ConnectOptions {
  readonly context: Pick<ServerContext, "store" | "clock" | "egress">;
  readonly resources: Resources;
  readonly authenticateToken: TokenAuthenticator;
  readonly authorize: Authorizer;
  readonly rulesFor: ReviewOptions["rulesFor"];
  /** The audiences of this server, for tokens that name none. */
  readonly audiences?: readonly string[];
  /** The current client certificate of this server for kubelets. */
  readonly kubeletIdentity?: (() => Target["tls"] | undefined) | undefined;
  readonly kubelets?: KubeletReach | undefined;
  /** Of simulated nodes, which have no port. Default: there are none. */
  readonly simulatedMetrics?: SimulatedMetrics | undefined;
  /** Aborts when this server stops: streams to nodes end with it. */
  readonly stopping?: AbortSignal | undefined;
  /** Issues ServiceAccount tokens. Without it TokenRequests are refused. */
  readonly tokens?: TokenIssuer | undefined;
}

export interface Connectors {
  /** Subresources, by `plural/name`. */
  readonly subresources: ReadonlyMap<string, Connector>;
  /** Resources that are not stored, by `group/plural`: they answer every verb that is served. */
  readonly virtual: ReadonlyMap<string, Connector>;
}

export function connectors(options: ConnectOptions): Connectors {
  const { resources, kubeletIdentity, kubelets, simulatedMetrics, stopping, authorize } = options;
  const dial = options.context.egress?.cluster;
  const core = (plural: string) => served(resources, "", plural);
  const [pods, nodes] = [core("pods"), core("nodes")];
  const reach: PodConnections = { pods, nodes, kubeletIdentity, kubelets, simulatedMetrics, stopping, dial };
  const bind = bindPod(pods, core("bindings").kind as Kind as Kind<core.Binding>);
  const slices = served(resources, "discovery.k8s.io", "endpointslices");
  /** These pass admission with the operation CONNECT. */
  const connections: readonly (readonly [string, Connector])[] = [
    ["pods/exec", podStream(reach, authorize, "container")],
    ["pods/attach", podStream(reach, authorize, "container")],
    ["pods/portforward", podStream(reach, authorize, "pod")],
    ["pods/proxy", podProxy(reach)],
    ["nodes/proxy", nodeProxy(reach, authorize)],
    ["services/proxy", serviceProxy(core("services"), slices)],
  ];
  return {
    subresources: new Map<string, Connector>([
      ["pods/binding", bind],
      ["pods/eviction", evictPod(pods, served(resources, "policy", "poddisruptionbudgets"))],
      ["pods/log", podLog(reach)],
      ["serviceaccounts/token", tokenRequest(core("serviceaccounts"), resources, options.tokens)],
      ...connections.map(([at, connector]) => [at, admitted(connector)] as const),
    ]),
    virtual: new Map<string, Connector>([
      ["/bindings", bind],
      ["/componentstatuses", componentStatuses(components(options.context))],
      ...reviews(options),
    ]),
  };
}

function admitted(connector: Connector): Connector {
  return async (request, exchange) => {
    const attributes = admissionAttributes(request, "CONNECT", false, connectOptions(request, exchange.path));
    await request.context.admission.mutate(attributes);
    await request.context.admission.validate(attributes);
    return connector(request, exchange);
  };
}

function served(resources: Resources, group: string, plural: string): Resource {
  const found = resources.find(group, "v1", plural);
  if (found === undefined) throw new Error(`${plural} are not served`);
  return found;
}
