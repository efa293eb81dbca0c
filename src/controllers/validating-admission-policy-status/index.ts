/** The status of ValidatingAdmissionPolicies: type errors in their expressions. */
import { type admissionregistration, expressionWarnings, kinds } from "#api";
import { changesOf, defineController } from "../runtime/index.ts";
import { checkedTypes } from "./checked-types.ts";

type Policy = admissionregistration.ValidatingAdmissionPolicy;

export const validatingAdmissionPolicyStatus = defineController({
  name: "validatingadmissionpolicy-status-controller",
  bind({ cache, client }) {
    const policies = cache(kinds.ValidatingAdmissionPolicy);
    return {
      sources: [changesOf(kinds.ValidatingAdmissionPolicy)],
      async reconcile(key, _now, signal) {
        const policy = policies.get(key);
        if (policy === undefined || isChecked(policy)) return undefined;
        const { kinds: checkedKinds, params } = await checkedTypes(policy, (path) => client.text(path, { signal }));
        const object = checked(policy, expressionWarnings(policy, checkedKinds, params));
        return { steps: [[{ verb: "updateStatus", resource: kinds.ValidatingAdmissionPolicy, object }]] };
      },
    };
  },
});

/** Whether the present spec has been checked. */
export function isChecked({ metadata, status }: Policy): boolean {
  return (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
}

export function checked(policy: Policy, warnings: readonly admissionregistration.ExpressionWarning[]): Policy {
  const { generation = 0 } = policy.metadata;
  const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings };
  return { ...policy, status: { ...policy.status, observedGeneration: generation, typeChecking } };
}
