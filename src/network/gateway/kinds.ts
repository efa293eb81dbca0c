/** The fields of the Gateway API's kinds that are read here. The kinds come with CustomResourceDefinitions. */
import type { Int64, KubeObject, LabelSelector } from "#api";
import { clusterWide, namespaced } from "#client";
import type { HeaderChanges } from "../http/route.ts";

const GROUP_VERSION = "gateway.networking.k8s.io/v1";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: Int64;
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
  readonly filters?: readonly RouteFilter[];
}

export interface PathChange {
  readonly type: string;
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

export interface Redirect {
  readonly scheme?: string;
  readonly hostname?: string;
  readonly path?: PathChange;
  readonly port?: number;
  readonly statusCode?: number;
}

export interface Mirror {
  readonly backendRef: BackendReference;
  readonly percent?: number;
  readonly fraction?: { readonly numerator: number; readonly denominator?: number };
}

export interface RouteFilter {
  readonly type: string;
  readonly requestHeaderModifier?: HeaderChanges;
  readonly responseHeaderModifier?: HeaderChanges;
  readonly requestRedirect?: Redirect;
  readonly urlRewrite?: { readonly hostname?: string; readonly path?: PathChange };
  readonly requestMirror?: Mirror;
}

export interface RouteRule {
  readonly matches?: readonly RouteMatch[];
  readonly filters?: readonly RouteFilter[];
  readonly backendRefs?: readonly BackendReference[];
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
}

/** Allows objects of other Namespaces to refer to objects of its own. */
export interface ReferenceGrant extends KubeObject {
  readonly spec?: {
    readonly from?: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[];
    readonly to?: readonly { readonly group: string; readonly kind: string; readonly name?: string }[];
  };
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

export interface GrpcRoute extends KubeObject {
  readonly spec?: {
    readonly parentRefs?: readonly ParentReference[];
    readonly hostnames?: readonly string[];
    readonly rules?: readonly {
      readonly matches?: readonly {
        readonly method?: { readonly type?: string; readonly service?: string; readonly method?: string };
        readonly headers?: readonly ValueMatch[];
      }[];
      readonly filters?: readonly RouteFilter[];
      readonly backendRefs?: readonly BackendReference[];
    }[];
  };
  readonly status?: { readonly parents?: readonly ParentStatus[] };
}

/** TLSRoutes and TCPRoutes: connections without a look at what they carry. */
interface StreamRoute extends KubeObject {
  readonly spec?: {
    readonly parentRefs?: readonly ParentReference[];
    readonly hostnames?: readonly string[];
    readonly rules?: readonly { readonly backendRefs?: readonly BackendReference[] }[];
  };
  readonly status?: { readonly parents?: readonly ParentStatus[] };
}
export type TlsRoute = StreamRoute;
export type TcpRoute = StreamRoute;

/** How the proxy speaks TLS to the endpoints of a Service. */
export interface BackendTlsPolicy extends KubeObject {
  readonly spec?: {
    readonly targetRefs?: readonly {
      readonly group: string;
      readonly kind: string;
      readonly name: string;
      readonly sectionName?: string;
    }[];
    readonly validation?: {
      readonly hostname: string;
      readonly caCertificateRefs?: readonly { readonly group: string; readonly kind: string; readonly name: string }[];
      readonly wellKnownCACertificates?: string;
      readonly subjectAltNames?: readonly SubjectAltName[];
    };
  };
  readonly status?: { readonly ancestors?: readonly AncestorStatus[] };
}

export interface SubjectAltName {
  readonly type: string;
  readonly hostname?: string;
  readonly uri?: string;
}

export interface AncestorStatus {
  readonly ancestorRef: ParentReference;
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export const GatewayClassResource = clusterWide<GatewayClass>(GROUP_VERSION, "GatewayClass", "gatewayclasses");
export const GatewayResource = namespaced<Gateway>(GROUP_VERSION, "Gateway", "gateways");
export const GATEWAYS = "gateways.gateway.networking.k8s.io";
export const HttpRouteResource = namespaced<HttpRoute>(GROUP_VERSION, "HTTPRoute", "httproutes");
/** The CRD to wait for: the others are installed with it. */
export const HTTP_ROUTES = "httproutes.gateway.networking.k8s.io";
export const ReferenceGrantResource = namespaced<ReferenceGrant>(
  "gateway.networking.k8s.io/v1beta1",
  "ReferenceGrant",
  "referencegrants",
);
export const GrpcRouteResource = namespaced<GrpcRoute>(GROUP_VERSION, "GRPCRoute", "grpcroutes");
export const GRPC_ROUTES = "grpcroutes.gateway.networking.k8s.io";
export const REFERENCE_GRANTS = "referencegrants.gateway.networking.k8s.io";
export const TlsRouteResource = namespaced<TlsRoute>(GROUP_VERSION, "TLSRoute", "tlsroutes");
export const TLS_ROUTES = "tlsroutes.gateway.networking.k8s.io";
export const TcpRouteResource = namespaced<TcpRoute>("gateway.networking.k8s.io/v1alpha2", "TCPRoute", "tcproutes");
export const TCP_ROUTES = "tcproutes.gateway.networking.k8s.io";
export const BackendTlsPolicyResource = namespaced<BackendTlsPolicy>(
  GROUP_VERSION,
  "BackendTLSPolicy",
  "backendtlspolicies",
);
export const BACKEND_TLS_POLICIES = "backendtlspolicies.gateway.networking.k8s.io";
