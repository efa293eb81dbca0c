/** The kinds of the Gateway API, as far as they are read here: they come with CustomResourceDefinitions, not with this API server. */
import type { apiextensions, KubeObject, LabelSelector } from "#api";
import { clusterWide, namespaced } from "#client";

const GROUP_VERSION = "gateway.networking.k8s.io/v1";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime?: string;
}

export interface GatewayClass extends KubeObject {
  readonly spec?: { readonly controllerName?: string };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export interface Listener {
  readonly name: string;
  readonly hostname?: string;
  readonly port: number;
  readonly protocol: string;
  readonly tls?: {
    readonly mode?: string;
    readonly certificateRefs?: readonly ObjectReference[];
  };
  readonly allowedRoutes?: {
    readonly namespaces?: { readonly from?: string; readonly selector?: LabelSelector };
    readonly kinds?: readonly { readonly group?: string; readonly kind: string }[];
  };
}

export interface ObjectReference {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface ListenerStatus {
  readonly name: string;
  readonly attachedRoutes: number;
  readonly supportedKinds: readonly { readonly group: string; readonly kind: string }[];
  readonly conditions: readonly Condition[];
}

export interface Gateway extends KubeObject {
  readonly spec?: { readonly gatewayClassName?: string; readonly listeners?: readonly Listener[] };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly value: string }[];
    readonly conditions?: readonly Condition[];
    readonly listeners?: readonly ListenerStatus[];
  };
}

export interface ParentReference extends ObjectReference {
  readonly sectionName?: string;
  readonly port?: number;
}

export interface ValueMatch {
  readonly type?: string;
  readonly name: string;
  readonly value: string;
}

export interface RouteMatch {
  readonly path?: { readonly type?: string; readonly value?: string };
  readonly headers?: readonly ValueMatch[];
  readonly queryParams?: readonly ValueMatch[];
  readonly method?: string;
}

export interface BackendReference extends ObjectReference {
  readonly port?: number;
  readonly weight?: number;
}

export interface RouteRule {
  readonly matches?: readonly RouteMatch[];
  readonly filters?: readonly { readonly type: string }[];
  readonly backendRefs?: readonly BackendReference[];
}

export interface ParentStatus {
  readonly parentRef: ParentReference;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export interface HttpRoute extends KubeObject {
  readonly spec?: {
    readonly parentRefs?: readonly ParentReference[];
    readonly hostnames?: readonly string[];
    readonly rules?: readonly RouteRule[];
  };
  readonly status?: { readonly parents?: readonly ParentStatus[] };
}

export const GatewayClassResource = clusterWide<GatewayClass>(GROUP_VERSION, "GatewayClass", "gatewayclasses");
export const GatewayResource = namespaced<Gateway>(GROUP_VERSION, "Gateway", "gateways");
export const HttpRouteResource = namespaced<HttpRoute>(GROUP_VERSION, "HTTPRoute", "httproutes");
export const Definition = clusterWide<apiextensions.CustomResourceDefinition>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
);
/** Where this one is, the others are. */
export const HTTP_ROUTES = "httproutes.gateway.networking.k8s.io";
