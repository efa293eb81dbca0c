/** Why somebody may or may not do something, as authorization answers. */
import type { WhyAnswer } from "./answer.ts";

export interface ReviewFacts {
  readonly user: string;
  readonly verb: string;
  readonly target: string;
  readonly namespace: string;
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

export function whyForbidden(facts: ReviewFacts): WhyAnswer {
  const { user, verb, target, namespace, allowed = false, denied = false, reason = "", evaluationError = "" } = facts;
  const what = `${user} may ${allowed ? "" : "not "}${verb} ${target} in ${namespace}`;
  const evidence = "SubjectAccessReview";
  const trouble = evaluationError === "" ? [] : [{ text: evaluationError, evidence }];
  if (allowed) return { what, because: [{ text: reason, evidence }, ...trouble], help: [] };
  const because = [
    { text: reason || (denied ? "it is denied" : "no role that is bound to them says so"), evidence },
    ...trouble,
  ];
  const resource = target.split("/")[0];
  return {
    what,
    because,
    help: denied
      ? []
      : [
          `kubectl create role NAME --verb=${verb} --resource=${resource} -n ${namespace}`,
          `kubectl create rolebinding NAME --role=NAME --user=${user} -n ${namespace}`,
        ],
  };
}
