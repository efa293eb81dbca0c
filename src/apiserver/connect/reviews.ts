/**
 * Questions that are answered and never kept: who am I, whose token is this, who may do what.
 */
import {
  apiVersionOf,
  at,
  type authentication,
  type authorization,
  badRequest,
  formatTime,
  instantOf,
  invalidStatus,
  isStatusError,
  type KubeObject,
  notAcceptable,
} from "#api";
import type { Authenticator } from "../authn/authenticator.ts";
import type { UserInfo } from "../authn/user.ts";
import type { Authorizer } from "../authz/authorizer.ts";
import { answerValue } from "../encode/answers.ts";
import { negotiate } from "../encode/negotiate.ts";
import type { ApiRequest } from "../http/exchange.ts";
import type { RequestInfo } from "../http/request-info.ts";
import { BODY_TYPES } from "../rest/body.ts";
import { fillIn } from "../rest/create.ts";
import { own } from "../rest/ownership.ts";
import type { AnyDraft } from "../rest/prepare.ts";
import { admissionAttributes } from "../rest/request-parts.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import { type Connector, posted } from "./connector.ts";

export interface Rules {
  readonly resourceRules: readonly authorization.ResourceRule[];
  readonly nonResourceRules: readonly authorization.NonResourceRule[];
  /** Not all is known: an authorizer cannot list its rules. */
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

export interface ReviewOptions {
  readonly authenticate: Authenticator;
  readonly authorize: Authorizer;
  /** Everything that a user may do in a namespace. */
  rulesFor(user: UserInfo, namespace: string): Rules | Promise<Rules>;
  /** For whom tokens are meant that do not say so. */
  readonly audiences?: readonly string[];
}

type Spec = authorization.SubjectAccessReviewSpec;

/** By `group/plural`. */
export function reviews(options: ReviewOptions): readonly (readonly [string, Connector])[] {
  const authorized = (userOf: (request: RestRequest, spec: Spec) => UserInfo): Connector =>
    review(async (draft, request) => {
      const { spec } = draft as unknown as authorization.SubjectAccessReview;
      const allowed = await options.authorize(userOf(request, spec), infoOf(spec));
      return { ...draft, status: { allowed } };
    });
  const ofSubject = authorized((_, spec) => subjectOf(spec));
  return [
    ["authorization.k8s.io/subjectaccessreviews", ofSubject],
    ["authorization.k8s.io/localsubjectaccessreviews", ofSubject],
    ["authorization.k8s.io/selfsubjectaccessreviews", authorized(({ user }) => user)],
    ["authorization.k8s.io/selfsubjectrulesreviews", review((draft, { user }) => rulesReview(draft, user, options))],
    ["authentication.k8s.io/selfsubjectreviews", review(selfReview)],
    ["authentication.k8s.io/tokenreviews", review((draft, _, exchange) => tokenReview(draft, exchange, options))],
  ];
}

function review(
  answer: (draft: AnyDraft, request: RestRequest, exchange: ApiRequest) => object | Promise<object>,
): Connector {
  return async (request, exchange) => {
    const { kind } = request.resource;
    const format = negotiate(exchange.headers.accept, exchange.query, false);
    if (format.as !== undefined) throw notAcceptable(BODY_TYPES);
    const { draft, options } = await posted(request, kind);
    place(request, draft);
    fillIn(kind, draft);
    own(request, draft, undefined);
    const { admission } = request.context;
    await admission.mutate(admissionAttributes(request, "CREATE", options.dryRun, draft));
    if (kind.kind === "SelfSubjectRulesReview") requireNamespace(draft);
    const errors = kind.validate?.(draft as KubeObject, at()) ?? [];
    if (errors.length > 0) throw invalidStatus(kind, "", errors);
    await admission.validate(admissionAttributes(request, "CREATE", options.dryRun, draft));
    const answered = { kind: kind.kind, apiVersion: apiVersionOf(kind), ...(await answer(draft, request, exchange)) };
    return answerValue(201, answered, kind, format);
  };
}

/** Those of a namespace have it from their path; the others have none. */
function place({ resource, namespace }: RestRequest, { metadata }: AnyDraft): void {
  if (resource.kind.scope === "Cluster") delete metadata.namespace;
  else if ((metadata.namespace ?? "") === "") metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
}

function requireNamespace(draft: AnyDraft): void {
  const { spec } = draft as unknown as authorization.SelfSubjectRulesReview;
  if ((spec?.namespace ?? "") === "") throw badRequest("no namespace on request");
}

async function rulesReview(draft: AnyDraft, user: UserInfo, { rulesFor }: ReviewOptions): Promise<object> {
  const { spec } = draft as unknown as authorization.SelfSubjectRulesReview;
  return { metadata: {}, spec: {}, status: await rulesFor(user, spec.namespace ?? "") };
}

function selfReview(_: AnyDraft, { user, context }: RestRequest): object {
  const metadata = { creationTimestamp: formatTime(instantOf(context.clock.now())) };
  return { metadata, status: { userInfo: userStatus(user) } };
}

async function tokenReview(
  draft: AnyDraft,
  exchange: ApiRequest,
  { authenticate, audiences: own = [] }: ReviewOptions,
): Promise<object> {
  const { spec } = draft as unknown as authentication.TokenReview;
  const { token = "" } = spec;
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const { method, path, query, signal } = exchange;
  const headers = { authorization: `Bearer ${token}` };
  try {
    const user = await authenticate({ method, path, query, signal, headers, body: async () => Buffer.alloc(0) });
    const asked = spec.audiences ?? [];
    const audiences = asked.length === 0 ? own : asked.filter((audience) => own.includes(audience));
    return {
      ...draft,
      status: { authenticated: true, user: userStatus(user), ...(audiences.length > 0 && { audiences }) },
    };
  } catch (error) {
    if (!isStatusError(error, "Unauthorized")) throw error;
    return { ...draft, status: { user: {}, error: "invalid bearer token" } };
  }
}

function userStatus({ name, uid, groups, extra }: UserInfo): authentication.UserInfo {
  return {
    username: name,
    ...(uid !== undefined && uid !== "" && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra !== undefined && Object.keys(extra).length > 0 && { extra }),
  };
}

function subjectOf({ user = "", uid, groups = [], extra }: Spec): UserInfo {
  return { name: user, groups, ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra }) };
}

/** The request that is asked about. */
export function infoOf({ resourceAttributes: about, nonResourceAttributes }: Omit<Spec, "user">): RequestInfo {
  return {
    path: nonResourceAttributes?.path ?? "",
    verb: about?.verb ?? nonResourceAttributes?.verb ?? "",
    isResourceRequest: about !== undefined,
    apiGroup: about?.group ?? "",
    apiVersion: about?.version ?? "",
    namespace: about?.namespace ?? "",
    resource: about?.resource ?? "",
    subresource: about?.subresource ?? "",
    name: about?.name ?? "",
    rest: "",
  };
}
