/**
 * Reviews: who am I, whose token is this, who may do what. They are answered, never stored.
 */
import {
  apiVersionOf,
  at,
  type authentication,
  type authorization,
  badRequest,
  formatTime,
  instantOf,
  internalError,
  invalidStatus,
  type KubeObject,
  notAcceptable,
} from "#api";
import { INVALID_TOKEN } from "../authn/authenticator.ts";
import { errorText, isKnown, type TokenAuthenticator } from "../authn/verdict.ts";
import { type Authorizer, type Rules, reviewedAttributes, type Verdict } from "../authz/index.ts";
import { answerValue } from "../encode/answers.ts";
import { negotiate } from "../encode/negotiate.ts";
import type { ApiRequest } from "../http/exchange.ts";
import { type UserInfo, withAuthenticated } from "../identity/user.ts";
import { BODY_TYPES } from "../rest/body.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { admissionAttributes } from "../rest/request-parts.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import { fillIn } from "../rest/write/defaults.ts";
import { own } from "../rest/write/ownership.ts";
import { type Connector, posted } from "./connector.ts";

export interface ReviewOptions {
  readonly authenticateToken: TokenAuthenticator;
  readonly authorize: Authorizer;
  /** All rules of a user in a namespace. */
  rulesFor(user: UserInfo, namespace: string): Rules;
  /** The audiences of tokens that name none. */
  readonly audiences?: readonly string[];
}

type Spec = authorization.SubjectAccessReviewSpec;

/** By `group/plural`. */
export function reviews(options: ReviewOptions): readonly (readonly [string, Connector])[] {
  const authorized = (userOf: (request: RestRequest, spec: Spec) => UserInfo): Connector =>
    review(async (draft, request) => {
      const { spec } = draft as unknown as authorization.SubjectAccessReview;
      const attributes = reviewedAttributes(userOf(request, spec), spec);
      const verdict = await options.authorize(attributes);
      return { ...draft, status: accessStatus(verdict, attributes.selectors.unreadable) };
    });
  const ofSubject = authorized((_, spec) => subjectOf(spec));
  return [
    ["authorization.k8s.io/subjectaccessreviews", ofSubject],
    ["authorization.k8s.io/localsubjectaccessreviews", ofSubject],
    ["authorization.k8s.io/selfsubjectaccessreviews", authorized(({ user }) => user)],
    ["authorization.k8s.io/selfsubjectrulesreviews", review((draft, { user }) => rulesReview(draft, user, options))],
    ["authentication.k8s.io/selfsubjectreviews", review(selfReview)],
    ["authentication.k8s.io/tokenreviews", review((draft) => tokenReview(draft, options))],
  ];
}

function review(
  answer: (draft: AnyDraft, request: RestRequest, exchange: ApiRequest) => object | Promise<object>,
): Connector {
  return async (request, exchange) => {
    const { kind } = request.resource;
    const format = negotiate(exchange.headers.accept, exchange.query, false, true, request.cbor);
    if (format.as !== undefined) throw notAcceptable(BODY_TYPES);
    const { draft, options } = await posted(request, kind);
    place(request, draft);
    fillIn(kind, draft);
    await own(request, draft, undefined);
    const { admission } = request.context;
    await admission.mutate(admissionAttributes(request, "CREATE", options.dryRun, draft));
    if (kind.kind === "SelfSubjectRulesReview") requireNamespace(draft);
    const errors = kind.validate?.(draft as KubeObject, at()) ?? [];
    // Kubernetes names no kind here.
    if (errors.length > 0) throw invalidStatus({ group: kind.group, kind: "" }, "", errors);
    await admission.validate(admissionAttributes(request, "CREATE", options.dryRun, draft));
    const answered = { kind: kind.kind, apiVersion: apiVersionOf(kind), ...(await answer(draft, request, exchange)) };
    return answerValue(201, answered, kind, format);
  };
}

/** LocalSubjectAccessReviews have the namespace of their path; the others have none. */
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
  { authenticateToken, audiences: own = [] }: ReviewOptions,
): Promise<object> {
  const { spec } = draft as unknown as authentication.TokenReview;
  const { token = "" } = spec;
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const asked = spec.audiences ?? [];
  const wanted = asked.length === 0 ? own : asked;
  const verdict = await authenticateToken(token, wanted);
  if (!isKnown(verdict)) {
    const error = errorText([INVALID_TOKEN, ...(verdict?.refused ?? [])]);
    return { ...draft, status: { user: {}, error } };
  }
  const { audiences = [] } = verdict;
  if (wanted.length > 0 && !audiences.some((audience) => wanted.includes(audience)))
    throw internalError("error validating audiences");
  const user = userStatus(withAuthenticated(verdict.user));
  return { ...draft, status: { authenticated: true, user, ...(audiences.length > 0 && { audiences }) } };
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

/** The reason, and evaluation errors if there were any. */
function accessStatus(
  { decision, reason, error }: Verdict,
  unreadable: readonly string[],
): authorization.SubjectAccessReviewStatus {
  const ignored = unreadable.map((what) => `spec.resourceAttributes.${what} partially ignored due to parse error`);
  const faults = [...(error === undefined ? [] : [error]), ...ignored];
  return {
    allowed: decision === "allow",
    ...(decision === "deny" && { denied: true }),
    ...(reason !== "" && { reason }),
    ...(faults.length > 0 && { evaluationError: faults.length === 1 ? faults[0] : `[${faults.join(", ")}]` }),
  };
}
