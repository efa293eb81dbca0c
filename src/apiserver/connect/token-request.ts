/**
 * serviceaccounts/token: a token of a ServiceAccount, for a while, for some audiences, and, if it is bound to an object, for as long as
 * that is there.
 */
import {
  at,
  type authentication,
  badRequest,
  conflict,
  defaultTokenRequest,
  formatTime,
  instantOf,
  invalidStatus,
  type JsonObject,
  type KubeObject,
  notFound,
  serverResponse,
  typeSchema,
  validateTokenRequest,
} from "#api";
import { answerValue } from "../encode/answers.ts";
import { negotiate } from "../encode/negotiate.ts";
import { admissionAttributes } from "../rest/request-parts.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import { type BodyKind, type Connector, posted } from "./connector.ts";

/** Kubelets ask for so long; clients that do not renew get a year, and are warned from then on. */
const RENEWED_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

/** Has the key. */
export interface TokenSigner {
  readonly issuer: string;
  /** For whom tokens are meant that do not say so. */
  readonly audiences: readonly string[];
  /** The claims as a signed JWT. */
  sign(claims: JsonObject): Promise<string>;
}

/** Without a signer there are no tokens to be had, but the original's words for accounts that do not exist. */
export function tokenRequest(accounts: Resource, resources: Resources, signer: TokenSigner | undefined): Connector {
  const kind: BodyKind = {
    group: "authentication.k8s.io",
    version: "v1",
    kind: "TokenRequest",
    get schema() {
      return typeSchema("io.k8s.api.authentication.v1.TokenRequest");
    },
  };
  return async (request, exchange) => {
    const { namespace, name, context } = request;
    const { draft, options } = await posted(request, kind);
    const account = accounts.cache.get(accounts.suffix(namespace, name));
    if (account === undefined) throw notFound(accounts.groupResource, name);
    if (signer === undefined) throw serverResponse(404);
    if ((draft.metadata.name ?? "") !== "" && draft.metadata.name !== name) {
      throw badRequest(`the name of the object (${draft.metadata.name}) does not match the name on the URL (${name})`);
    }
    defaultTokenRequest(draft as Parameters<typeof defaultTokenRequest>[0]);
    await context.admission.mutate(admissionAttributes(request, "CREATE", options.dryRun, draft));
    const errors = validateTokenRequest(draft as unknown as authentication.TokenRequest, at());
    if (errors.length > 0) throw invalidStatus(kind, name, errors);
    await context.admission.validate(admissionAttributes(request, "CREATE", options.dryRun, draft));

    const now = Math.floor(context.clock.now() / 1000);
    const { spec = {} } = draft as unknown as authentication.TokenRequest;
    const audiences = (spec.audiences ?? []).length > 0 ? (spec.audiences ?? []) : signer.audiences;
    const bound = boundTo(request, resources, spec.boundObjectRef, name);
    const asked = spec.expirationSeconds ?? RENEWED_SECONDS;
    const extended = asked === RENEWED_SECONDS && bound.pod !== undefined;
    const expires = now + (extended ? EXTENDED_SECONDS : asked);
    const token = await signer.sign({
      aud: audiences,
      exp: expires,
      iat: now,
      iss: signer.issuer,
      jti: context.newUid(),
      "kubernetes.io": {
        namespace,
        ...bound,
        serviceaccount: reference(accounts.read(account)),
        ...(extended && { warnafter: now + asked }),
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    });
    const { creationTimestamp: _, ...metadata } = draft.metadata;
    const answered = {
      ...draft,
      metadata: { ...metadata, name, namespace, creationTimestamp: formatTime(instantOf(now * 1000)) },
      spec: { ...spec, audiences },
      status: { token, expirationTimestamp: formatTime(instantOf((now + asked) * 1000)) },
    };
    return answerValue(201, answered, undefined, negotiate(exchange.headers.accept, exchange.query, false));
  };
}

type Bound = { readonly [kind in "pod" | "node" | "secret"]?: JsonObject };

/** The claims about the object that the token is bound to, and about the node of a pod. */
function boundTo(
  { namespace }: RestRequest,
  resources: Resources,
  ref: authentication.BoundObjectReference | undefined,
  account: string,
): Bound {
  // Null where a client leaves it out: the original always writes it.
  if (!ref) return {};
  const kind = ref.apiVersion === "v1" ? ref.kind : undefined;
  if (kind !== "Pod" && kind !== "Node" && kind !== "Secret") {
    throw badRequest(`cannot bind token to object of type ${ref.apiVersion ?? ""}, Kind=${ref.kind ?? ""}`);
  }
  const resource = resources.find("", "v1", `${kind.toLowerCase()}s`);
  const object = find(resource, namespace, ref.name ?? "");
  if ((ref.uid ?? "") !== "" && ref.uid !== object.metadata.uid) {
    const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", resource: `${kind.toLowerCase()}s` }, ref.name ?? "", why);
  }
  if (kind !== "Pod") return { [kind.toLowerCase()]: reference(object) };
  const { spec } = object as KubeObject & { spec?: { serviceAccountName?: string; nodeName?: string } };
  if (spec?.serviceAccountName !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  const node = resources.find("", "v1", "nodes")?.cache.get(spec.nodeName ?? "")?.object;
  const nodeName = spec.nodeName ?? "";
  return {
    pod: reference(object),
    ...(nodeName !== "" && { node: node === undefined ? { name: nodeName } : reference(node) }),
  };
}

function find(resource: Resource | undefined, namespace: string, name: string): KubeObject {
  const stored = resource?.cache.get(resource.suffix(namespace, name));
  if (resource === undefined || stored === undefined)
    throw notFound(resource?.groupResource ?? { group: "", resource: "" }, name);
  return resource.read(stored);
}

function reference({ metadata }: KubeObject): JsonObject {
  return { name: metadata.name ?? "", uid: metadata.uid ?? "" };
}
