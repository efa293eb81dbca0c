/** Why a user may or may not do something, as authorization decides. */
import type { Reason, WhyAnswer } from "../answer.ts";

export interface ReviewFacts {
  readonly user: string;
  readonly verb: string;
  readonly target: string;
  readonly namespace: string;
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
  /** Roles that would allow it, `ClusterRole view` or `Role reader`, the best match first. */
  readonly roles?: readonly string[];
  /** What members of these groups are. */
  readonly groups?: readonly string[];
}

export function whyForbidden(facts: ReviewFacts): WhyAnswer {
  const {
    user,
    verb,
    target,
    namespace,
    allowed = false,
    denied = false,
    reason = "",
    evaluationError = "",
    roles = [],
  } = facts;
  const what = `${user} may ${allowed ? "" : "not "}${verb} ${target} in ${namespace}`;
  const evidence = "SubjectAccessReview";
  const trouble = evaluationError === "" ? [] : [{ text: evaluationError, evidence }];
  if (allowed) return { what, because: [{ text: reason, evidence }, ...trouble], help: [] };
  const because: Reason[] = [
    { text: reason || (denied ? "it is denied" : "no role bound to this user allows it"), evidence },
    ...trouble,
  ];
  const resource = target.split("/")[0];
  const [first] = roles;
  if (first !== undefined)
    because.push({
      text: `it would be allowed by ${roles.slice(0, 4).join(", ")}: none is bound to this user`,
      evidence: "Roles and ClusterRoles",
    });
  return {
    what,
    because,
    help: denied
      ? []
      : [
          ...(first === undefined ? [] : [bindingFor(first, user, namespace)]),
          `kubectl create role NAME --verb=${verb} --resource=${resource} -n ${namespace}`,
          `kubectl create rolebinding NAME --role=NAME --user=${user} -n ${namespace}`,
        ],
  };
}

function bindingFor(role: string, user: string, namespace: string): string {
  const [kind = "", name = ""] = role.split(" ");
  const flag = kind === "ClusterRole" ? "--clusterrole" : "--role";
  return `kubectl create rolebinding NAME ${flag}=${name} --user=${user} -n ${namespace}`;
}
