/**
 * serviceaccounts/token: a token of a ServiceAccount, with an expiry and audiences. A token that is bound to an object
 * is valid only as long as that object exists.
 */
import {
  at,
  type authentication,
  badRequest,
  defaultTokenRequest,
  field,
  formatTime,
  instantOf,
  internalError,
  invalidStatus,
  type JsonObject,
  type Kind,
  notFound,
  serverResponse,
  typeSchema,
  updateManagedFields,
  validateTokenRequest,
} from "#api";
import type { TokenIssuer } from "../authn/service-account/issuer.ts";
import { answerValue } from "../encode/answers.ts";
import { negotiate } from "../encode/negotiate.ts";
import { serviceAccountUser } from "../identity/service-account-name.ts";
import type { BodyKind } from "../rest/body.ts";
import { fresh } from "../rest/read/fresh.ts";
import { admissionAttributes } from "../rest/request-parts.ts";
import type { Resource } from "../rest/resource.ts";
import type { Resources } from "../rest/resources.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import { ownershipContext } from "../rest/write/ownership.ts";
import { boundTo, reference } from "./bound-object.ts";
import { type Connector, posted } from "./connector.ts";

/**
 * The expiry that kubelets request. The token is then valid for a year, and use after this expiry is noted in the audit
 * log.
 */
const RENEWED_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

type Spec = authentication.TokenRequestSpec;

const KIND: BodyKind = {
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  get schema() {
    return typeSchema("io.k8s.api.authentication.v1.TokenRequest");
  },
};

const API_VERSION = `${KIND.group}/${KIND.version}`;

/** Without an issuer every request is refused; unknown accounts are reported as such first, as in Kubernetes. */
export function tokenRequest(accounts: Resource, resources: Resources, issuer: TokenIssuer | undefined): Connector {
  return async (request, exchange) => {
    const { namespace, name, context } = request;
    const { draft, options } = await posted(request, KIND);
    defaultTokenRequest(draft as Parameters<typeof defaultTokenRequest>[0]);
    const { manager, now: time } = ownershipContext(request);
    const owners = updateManagedFields({
      apiVersion: API_VERSION,
      schema: KIND.schema,
      manager,
      subresource: "token",
      now: time,
      live: undefined,
      updated: draft as unknown as JsonObject,
    });
    await context.admission.mutate(admissionAttributes(request, "CREATE", options.dryRun, draft));
    checkPlace(request, draft.metadata);
    await fresh(context);
    const stored = accounts.cache.get(accounts.suffix(namespace, name));
    if (stored === undefined) throw notFound(accounts.groupResource, name);
    const account = accounts.read(stored);
    if (issuer === undefined) throw serverResponse(404);
    const errors = validateTokenRequest(draft as unknown as authentication.TokenRequest, at());
    if (errors.length > 0) throw invalidStatus(KIND, "", errors);
    await context.admission.validate(admissionAttributes(request, "CREATE", options.dryRun, draft));

    const now = Math.floor(context.clock.now() / 1000);
    const { spec: asked = {} } = draft as unknown as authentication.TokenRequest;
    const spec = granted(asked, issuer, request.warn);
    const { audiences = [] } = spec;
    const seconds = Number(spec.expirationSeconds ?? 0);
    const bound = boundTo(namespace, name, resources, spec.boundObjectRef);
    const extended =
      issuer.extendExpiration &&
      bound.pod !== undefined &&
      seconds === RENEWED_SECONDS &&
      audiences.every((audience) => issuer.audiences.includes(audience));
    const jti = context.newUid();
    const extendedSeconds = Math.min(EXTENDED_SECONDS, issuer.maxExtendedSeconds ?? EXTENDED_SECONDS);
    const claims = {
      aud: audiences,
      exp: now + (extended ? extendedSeconds : seconds),
      iat: now,
      iss: issuer.issuer,
      jti,
      "kubernetes.io": {
        namespace,
        ...bound,
        serviceaccount: reference(account),
        ...(extended && { warnafter: now + seconds }),
      },
      nbf: now,
      sub: serviceAccountUser({ namespace, name }),
    };
    const token = await issuer.sign(claims).catch((error: unknown) => {
      throw internalError(`failed to generate token: ${(error as Error).message}`, error);
    });
    request.annotate("authentication.kubernetes.io/issued-credential-id", `JTI=${jti}`);
    const { creationTimestamp: _, ...metadata } = draft.metadata;
    const answered = {
      ...draft,
      kind: KIND.kind,
      apiVersion: API_VERSION,
      metadata: {
        ...metadata,
        name,
        namespace,
        uid: account.metadata.uid ?? "",
        creationTimestamp: formatTime(instantOf(now * 1000)),
        managedFields: owners,
      },
      spec,
      status: { token, expirationTimestamp: formatTime(instantOf((now + seconds) * 1000)) },
    };
    return answerValue(
      201,
      answered,
      KIND as Kind,
      negotiate(exchange.headers.accept, exchange.query, false, true, request.cbor),
    );
  };
}

/** The token is for the account in the path: a body that names another is refused. */
function checkPlace(path: RestRequest, { name = "", namespace = "" }: { name?: string; namespace?: string }): void {
  if (namespace !== "" && namespace !== path.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (name !== "" && name !== path.name) {
    const where = at("metadata", "name");
    const why = "must match the service account name if specified";
    throw invalidStatus(KIND, path.name, [field.invalid(where, name, why)]);
  }
}

function granted(asked: Spec, issuer: TokenIssuer, warn: (message: string) => void): Spec {
  const { maxExpirationSeconds: most } = issuer;
  const audiences = (asked.audiences ?? []).length > 0 ? (asked.audiences ?? []) : issuer.audiences;
  const { expirationSeconds = 0 } = asked;
  if (most === undefined || expirationSeconds <= most) return { ...asked, audiences };
  warn(`requested expiration of ${expirationSeconds} seconds shortened to ${most} seconds`);
  return { ...asked, audiences, expirationSeconds: most };
}
